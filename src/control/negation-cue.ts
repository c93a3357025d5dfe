/** A way in which a language says no. */
export interface Cue {
  /**
   * `prohibition`: a command or a rule; when no action of the goal kind can be found in it, a person is asked. `either`: may state or
   * forbid; counts as a prohibition when it names an action of the goal kind. `statement`: how things are; forbids nothing.
   */
  readonly mood: 'prohibition' | 'either' | 'statement';
  /** Source of a regular expression, flags `iu`. */
  readonly pattern: string;
  /** What is forbidden may stand before the words: "sending is forbidden", "nothing may be sent". */
  readonly whole?: true;
  /** Part of the prohibition in whose clause it stands: "do not send it without asking". */
  readonly nested?: true;
}

export interface FoundCue {
  readonly cue: Cue;
  readonly start: number;
  readonly end: number;
}

/** All cues of a sentence from left to right, without overlaps; where two begin at the same place the earlier row wins. */
export function findCues(sentence: string, cues: readonly CompiledCue[]): readonly FoundCue[] {
  const all = cues.flatMap(({ cue, expression }, row) =>
    [...sentence.matchAll(expression)].map((match) => ({
      cue,
      row,
      start: match.index,
      end: match.index + match[0].length,
    })),
  );
  const found: FoundCue[] = [];
  let end = 0;
  for (const next of all.toSorted((a, b) => a.start - b.start || a.row - b.row)) {
    if (next.start < end) continue;
    found.push({ cue: next.cue, start: next.start, end: next.end });
    end = next.end;
  }
  return found;
}

export interface CompiledCue {
  readonly cue: Cue;
  readonly expression: RegExp;
}

export function compileCues(cues: readonly Cue[]): readonly CompiledCue[] {
  return cues.map((cue) => ({ cue, expression: new RegExp(cue.pattern, 'giu') }));
}
