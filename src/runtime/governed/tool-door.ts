/**
 * The door of a governed tool: a lease is minted for exactly one call, and the guard checks it at the boundary `tool` before the tool
 * is entered. No lease means deny, here as on every wire. Source: LEASE; docs/decisions/0010.
 */
import { createEmbeddedIssuer } from '#authority/embedded-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { createGuard } from '#authority/guard.ts';
import { createPolicyTable } from '#authority/policy-table.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { Digest, LeaseId, RunId, StepId } from '#contracts/ids.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { canonicalText } from '#kernel/canonical.ts';
import type { Clock } from '#ports/clock.ts';
import type { Authenticated, Checked, Guard } from '#ports/guard.ts';
import type { Ids } from '#ports/ids.ts';
import type { HeldLease, LeaseIssuer, Minted } from '#ports/issuer.ts';
import type { RecordWrite, Store } from '#ports/store.ts';
import type { PolicyRow } from '#ports/team-definition.ts';
import { boundableArguments, exactBounds, type JsonArguments } from './call-arguments.ts';

export interface ToolDoorOptions {
  readonly grant: RootGrant;
  readonly workload: string;
  readonly purpose: string;
  readonly prohibitedActions: readonly string[];
  readonly policy: readonly PolicyRow[] | undefined;
  readonly runId: RunId;
  /** Of the frozen authority: what stands in a plan's place. */
  readonly authorityDigest: Digest;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface DoorCall {
  readonly tool: string;
  readonly actions: readonly string[];
  readonly resource: string;
  readonly classification: string;
  readonly arguments: JsonArguments;
  readonly stepId: StepId;
  readonly timeoutMs: number;
}

/** A call that may be made: the lease's id, and the rows that use it up, for the transaction of the permit. */
export interface Admitted {
  readonly leaseId: LeaseId;
  readonly records: readonly RecordWrite[];
}

export interface ToolDoor {
  /** Mints and checks. Throws ERR_LEASE with `detail.code`, and `detail.guard` when a guard refused. */
  admit(call: DoorCall): Admitted;
  /** The lease for exactly this call. Throws ERR_LEASE when the issuer refuses. */
  mint(call: DoorCall): CallLease;
  /** What the guard says to a call that is made under `lease`; undefined: under none. */
  check(call: DoorCall, lease: HeldLease | undefined): Checked<Authenticated>;
}

export type CallLease = Minted & { readonly leaseId: LeaseId };

const ISSUER = 'urn:caseops:issuer:governed';
const METHOD = 'tools/call';
const LEASE_LIFETIME_S_MAX = 300;

/** A door with keys of its own, which live as long as it. */
export function createToolDoor(options: ToolDoorOptions): ToolDoor {
  const parts = doorParts(options);
  const mint = (call: DoorCall): CallLease => mintFor(parts, call);
  const check = (call: DoorCall, lease: HeldLease | undefined): Checked<Authenticated> => checkWith(parts, call, lease);
  return {
    mint,
    check,
    admit(call) {
      const { lease, row, leaseId } = mint(call);
      const checked = check(call, lease);
      if (checked.outcome !== 'permit') {
        const { code, guard, boundary, message } = checked;
        throw new CaseOpsError('ERR_LEASE', `Call of ${call.tool} refused by ${guard}: ${message}`, {
          at: 'tool',
          detail: { code, guard, boundary },
        });
      }
      const records = [{ table: 'lease', row } as const, parts.guardOf(call.tool).consumption(checked.value)];
      return { leaseId, records };
    },
  };
}

interface DoorParts {
  readonly options: ToolDoorOptions;
  readonly issuer: LeaseIssuer;
  readonly policyDigest: Digest;
  readonly guardOf: (tool: string) => Guard;
}

function doorParts(options: ToolDoorOptions): DoorParts {
  const { workload, store, clock, ids } = options;
  const [issuerKey, workloadKey] = [generateSigner(), generateSigner()];
  const policy = createPolicyTable(options.policy ?? []);
  const issuer = createEmbeddedIssuer({
    issuer: ISSUER,
    tokenEndpoint: `${ISSUER}:token`,
    signer: issuerKey,
    clock,
    ids,
    supervisor: { workload, clientId: 'governed', signer: workloadKey },
    audiences: (audience) => audience.startsWith(AUDIENCE_PREFIX),
    clients: () => undefined,
    registry: store,
  });
  const guards = new Map<string, Guard>();
  const guardOf = (tool: string): Guard => {
    const known = guards.get(tool);
    if (known !== undefined) return known;
    const guard = createGuard({
      boundary: 'tool',
      audience: audienceOf(tool),
      issuers: [{ issuer: ISSUER, keys: [issuerKey.publicJwk] }],
      clock,
      workloads: (jkt) => (jkt === workloadKey.thumbprint ? workload : undefined),
      policy: options.policy === undefined ? undefined : policy,
      policyDigest: policy.digest,
    });
    guards.set(tool, guard);
    return guard;
  };
  return { options, issuer, guardOf, policyDigest: policy.digest };
}

const AUDIENCE_PREFIX = 'urn:caseops:tool:';

function audienceOf(tool: string): string {
  return `${AUDIENCE_PREFIX}${tool}`;
}

function mintFor({ options, issuer, policyDigest }: DoorParts, call: DoorCall): CallLease {
  const audience = audienceOf(call.tool);
  const leaseId = options.ids.next('lse');
  const minted = issuer.mintWork({
    leaseId,
    grant: options.grant,
    tenant: options.grant.tenant,
    runId: options.runId,
    stepId: call.stepId,
    attempt: 1,
    audience,
    detail: {
      locations: [audience],
      actions: [...call.actions],
      resources: [call.resource],
      datatypes: [call.classification],
      purpose: options.purpose,
      bounds: exactBounds(call.arguments),
    },
    planDigest: options.authorityDigest,
    policyDigest,
    prohibitedActions: options.prohibitedActions,
    delegationDepthMax: 0,
    use: 'single',
    lifetimeS: Math.min(LEASE_LIFETIME_S_MAX, Math.ceil(call.timeoutMs / 1_000) + 1),
  });
  return { ...minted, leaseId };
}

/** Every action is asked for: a lease for one of two permits neither. */
function checkWith(
  { options, guardOf }: DoorParts,
  call: DoorCall,
  lease: HeldLease | undefined,
): Checked<Authenticated> {
  const guard = guardOf(call.tool);
  const target = audienceOf(call.tool);
  const bytes = new TextEncoder().encode(canonicalText({ tool: call.tool, arguments: call.arguments }));
  const checked = guard.authenticate({
    authorization: lease === undefined ? undefined : `DPoP ${lease.token}`,
    proof: lease?.prove(METHOD, target, bytes),
    method: METHOD,
    target,
    body: bytes,
  });
  if (checked.outcome !== 'permit') return checked;
  for (const action of call.actions) {
    const verdict = guard.authorize(checked.value, {
      action,
      resources: [call.resource],
      purpose: options.purpose,
      datatypes: [call.classification],
      arguments: boundableArguments(call.arguments),
      tenant: options.grant.tenant,
      subject: options.grant.sub,
      run: options.runId,
      step: call.stepId,
      attempt: 1,
      planDigest: options.authorityDigest,
      taskId: undefined,
      contextId: undefined,
      lease: 'work',
    });
    if (verdict.outcome !== 'permit') return verdict;
  }
  return checked;
}
