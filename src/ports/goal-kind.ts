/** What a case declares so that a text can become a goal contract without a model. Source: DESIGN §3.1. */
import type { Budget } from '#contracts/budget.ts';
import type { ClaimTemplate } from '#contracts/claim.ts';

/** By ISO 639-1 language: sources of case-insensitive regular expressions, Unicode mode. */
export type Phrases = Readonly<Record<string, readonly string[]>>;
export type Sentences = Readonly<Record<string, string>>;

export interface EntityRule {
  readonly kind: string;
  /** How a value looks in any language: source of a regular expression, Unicode mode. */
  readonly pattern: string;
  readonly cardinality: 'one' | 'several';
  /** Not asked for when the text has none; several where one is wanted are asked about all the same. */
  readonly optional?: true;
  /** Asked when it is missing, or when several were found where one is wanted. */
  readonly question: Sentences;
}

export interface OutputRule {
  readonly kind: string;
  readonly required: boolean;
  /** Ask for it once per value of this entity. */
  readonly forEach?: string;
  /** Present: asked for only when one of these phrases occurs. Absent: always. */
  readonly when?: Phrases;
}

/** A negation or prohibition in a text is mapped to the action it forbids when one of the phrases occurs in its clause. */
export interface ProhibitionRule {
  readonly action: string;
  readonly phrases: Phrases;
}

export interface GoalKind {
  readonly kind: string;
  readonly version: string;
  readonly purpose: string;
  readonly subject: { readonly type: string; readonly entity: string };
  /** All of one group must occur for the kind to be recognised: `{ en: [['\\bclaim\\b|C-\\d+', 'why|status']] }`. */
  readonly recognise: Readonly<Record<string, readonly (readonly string[])[]>>;
  readonly entities: readonly EntityRule[];
  readonly outputs: readonly OutputRule[];
  readonly prohibitions: readonly ProhibitionRule[];
  /**
   * How a further language says no, beside English and Japanese: each match forbids the actions named in its clause, before it or after
   * it, and one that names none is asked about. Without it a language's prohibitions are found by common words only.
   */
  readonly negations?: Phrases;
  /** Forbidden whatever the text says. */
  readonly alwaysProhibitedActions: readonly string[];
  readonly constraints: readonly string[];
  readonly claims: readonly ClaimTemplate[];
  readonly budget: Budget;
  readonly observationAgeMsMax: number;
}
