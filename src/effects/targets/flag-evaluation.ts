/**
 * What a service that follows the flag file would do: the file's text through flagd-core, for a fixed set of users. It knows nothing of
 * who wrote the file, so it can tell whether the promotion took hold. Source: DESIGN §8.3.
 */
import { FlagdCore } from '@openfeature/flagd-core';

export interface FlagEvaluation {
  /** Users of the sample who get the release. */
  readonly onCount: number;
  readonly sampleCount: number;
  /** As flagd-core says it; `ERROR` and its code when it could not evaluate. */
  readonly reason: string;
  /** The flag's own version as flagd-core passes it on. */
  readonly version: string | undefined;
}

/** Large enough that a share twice as large as approved is seen beyond doubt. */
export const SAMPLE_COUNT = 2_000;

/** Undefined when flagd-core cannot read the file at all. */
export function evaluateFlag(text: string, flagKey: string): FlagEvaluation | undefined {
  const core = new FlagdCore(undefined, SILENT);
  try {
    core.setConfigurations(text);
  } catch {
    return undefined;
  }
  let onCount = 0;
  let reason = '';
  let version: string | undefined;
  for (let user = 0; user < SAMPLE_COUNT; user++) {
    const details = core.resolveBooleanEvaluation(flagKey, false, { targetingKey: `sample-${user}` });
    if (details.value) onCount += 1;
    reason = details.errorCode === undefined ? String(details.reason) : `ERROR ${details.errorCode}`;
    const said = details.flagMetadata['version'];
    version = typeof said === 'string' ? said : undefined;
  }
  return { onCount, sampleCount: SAMPLE_COUNT, reason, version };
}

/** Whether so many of the sample is what a share of this size gives: within five standard deviations, and exact at 0 and 100. */
export function isShare({ onCount, sampleCount }: FlagEvaluation, percent: number): boolean {
  const share = percent / 100;
  const deviation = Math.sqrt(sampleCount * share * (1 - share));
  return Math.abs(onCount - sampleCount * share) <= 5 * deviation;
}

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
