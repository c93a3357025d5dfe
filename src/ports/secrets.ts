/** Where keys and passwords come from, so that none stands in a configuration, an argument or a log. Source: DESIGN §2 "ports". */

/** A value that does not show itself: printed, logged or written as JSON it is only its name. */
export interface Secret {
  readonly name: string;
  /** The value, for the one place that needs it. */
  reveal(): string;
  toJSON(): string;
  toString(): string;
}

export interface Secrets {
  /** For messages: which adapter, without paths or values. */
  readonly source: string;
  /** Undefined when there is none of that name. Throws ERR_CONFIG when it is there and cannot be read. */
  read(name: string): Promise<Secret | undefined>;
}
