/** Something that can do one run of the store floor from its start to its end; disposed when nothing more is asked of it. */
export interface Engine extends AsyncDisposable {
  readonly once: () => Promise<void>;
}
