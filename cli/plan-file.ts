/** A plan that a person wrote, from a file. Whether it is lawful is decided by the validator. */
import { CaseOpsError } from 'caseops';
import { readFileSync } from 'node:fs';

/** ERR_USAGE when there is no JSON in it. */
export function readPlan(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new CaseOpsError(
      'ERR_USAGE',
      `Expected a JSON file with a plan at ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { at: 'cli', cause },
    );
  }
}
