/** What a branch of a release check delivers: a verdict for one tenant, request and release, with the records it rests on. */
import { z } from 'zod';

/** The branches whose findings a promotion needs: exactly these, each once. */
export const BRANCHES = ['eval', 'health', 'policy'] as const;
export type Branch = (typeof BRANCHES)[number];

export const finding = z.strictObject({
  branch: z.string(),
  tenant: z.string(),
  request_id: z.string(),
  release_id: z.string(),
  verdict: z.enum(['passed', 'failed']),
  reason: z.string().min(1).max(500),
  requires_approval: z.boolean(),
  /** Written `eval-run:run-91@v4`. */
  evidence: z.array(z.string().regex(/^[a-z][a-z0-9-]*:\S+@\S+$/)).max(64),
});
export type Finding = z.infer<typeof finding>;

/** A finding as it goes from step to step: text, so that the lease of the next step binds all of it. */
export function writeFinding(value: Finding): string {
  return JSON.stringify(finding.parse(value));
}

/** Untrusted; undefined when it is no JSON. */
export function readFinding(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As it is shown and written together: `claim:C-102@v17`. */
export function evidenceRef({ anchor, version }: { readonly anchor: string; readonly version: string }): string {
  return `${anchor}@${version}`;
}
