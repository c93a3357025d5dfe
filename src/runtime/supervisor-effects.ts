/** The one writer of a deployment, with the effect targets and the approval policy of its case. Source: DESIGN §3.10. */
import { createGuard } from '#authority/guard.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import type { EffectParts } from '#control/propose-effect.ts';
import type { WriterOptions } from '#effects/writer-options.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseDefinition } from './define-case.ts';
import type { KeyRing } from './key-ring.ts';
import { ISSUER } from './workloads.ts';

export interface EffectPlace {
  readonly case: CaseDefinition;
  readonly directory: string;
  readonly keys: KeyRing;
  /** Releases what the targets opened. */
  readonly stack: AsyncDisposableStack;
}

type WriterWorld = Omit<WriterOptions, 'targets' | 'guard' | 'policy' | 'onPoint'>;

/** Undefined for a case without effect targets, which loads none of this. Throws what a target throws that cannot be opened. */
export async function openEffects(place: EffectPlace, world: WriterWorld): Promise<EffectParts | undefined> {
  const { effectTargets, name, approvals = [] } = place.case;
  if (effectTargets === undefined) return undefined;
  const [open, { createEffectWriter }, { WRITER_AUDIENCE }] = await Promise.all([
    effectTargets(),
    import('#effects/writer.ts'),
    import('#effects/writer-options.ts'),
  ]);
  const directory = join(place.directory, 'effects');
  mkdirSync(directory, { recursive: true });
  const targets = await open({
    directory,
    teamDirectory: (team) => join(place.directory, 'teams', team),
    clock: world.clock,
    use: (resource) => place.stack.use(resource),
  });
  const { issuer, supervisor } = place.keys;
  const guard = createGuard({
    boundary: 'writer',
    audience: WRITER_AUDIENCE,
    issuers: [{ issuer: ISSUER, keys: [issuer.publicJwk] }],
    clock: world.clock,
    workloads: (jkt) => (jkt === supervisor.thumbprint ? world.workload : undefined),
  });
  const policy = createApprovalPolicy(name, approvals);
  return { writer: createEffectWriter({ ...world, targets, guard, policy }), policy };
}
