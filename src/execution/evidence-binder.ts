/**
 * Binds what a tool returned to evidence: one observation of one record version. A record that lacks its version, belongs to another
 * tenant, is another resource than was asked for, or does not conform, is refused with a code of its own and never reaches a worker.
 * Source: DESIGN §3.5, CONTRACTS "Evidence"; INV-14 (no read crosses a tenant).
 */
import { CaseOpsError, type ErrorCode } from '#contracts/error.ts';
import { evidence as evidenceSchema, evidenceKey, type Evidence } from '#contracts/evidence.ts';
import { timestamp, type CallId, type Digest } from '#contracts/ids.ts';
import { digestOf } from '#kernel/digest.ts';
import { resolvePointer } from '#kernel/pointer.ts';
import type { Ids } from '#ports/ids.ts';
import type { Observed, ToolDefinition } from '#ports/team-definition.ts';

/** At most so many records in one tool result. */
const RECORD_COUNT_MAX = 1_000;
/** How far an owner's clock may be ahead of ours. */
const OBSERVATION_SKEW_MS = 5_000;

/** One tool result, with what was asked and for whom. */
interface Observation<R> {
  readonly tool: Pick<ToolDefinition<never, R>, 'contract' | 'parseRecord'>;
  /** Checked against the protocol's schema by the tool host, but not trusted. */
  readonly output: unknown;
  /** The value of the call's resource argument: `C-102`. */
  readonly resourceId: string;
  readonly tenant: string;
  readonly callId: CallId;
  /** When the result arrived, ms since the epoch. */
  readonly receivedAtMs: number;
}

export interface EvidenceBinder {
  /**
   * Evidence per record, in the order of the result; none when nothing was found. All or nothing: throws CaseOpsError
   * ERR_TOOL_OUTPUT_TENANT, _RESOURCE, _VERSION (version or time of observation) or _SCHEMA.
   */
  bind<R>(observation: Observation<R>): readonly Observed<R>[];
  /** The evidence of this step under an id, with the record as observed; undefined when no call of this step made it. */
  find(evidenceId: string): { readonly evidence: Evidence; readonly record: unknown } | undefined;
}

interface Bound {
  readonly evidence: Evidence;
  readonly record: unknown;
}

/** A binder for one worker run: evidence is deduplicated on source + anchor + version within it. */
export function createEvidenceBinder(ids: Ids): EvidenceBinder {
  const byKey = new Map<string, Bound>();
  const byId = new Map<string, Bound>();
  return {
    bind(observation) {
      const checked = recordsOf(observation).map((record, index) => checkRecord(observation, record, index));
      return checked.map(({ open, data, parsed }) => {
        const known = byKey.get(evidenceKey(open));
        if (known !== undefined && known.evidence.digest !== open.digest) throw contradiction(observation, open);
        const bound = known ?? { evidence: { evidenceId: ids.next('ev'), ...open }, record: data };
        byKey.set(evidenceKey(open), bound);
        byId.set(bound.evidence.evidenceId, bound);
        return { record: parsed, evidence: bound.evidence };
      });
    },
    find: (evidenceId) => byId.get(evidenceId),
  };
}

interface Checked<R> {
  readonly open: Omit<Evidence, 'evidenceId'>;
  readonly data: unknown;
  readonly parsed: R;
}

function recordsOf(observation: Observation<unknown>): readonly unknown[] {
  const { contract } = observation.tool;
  const found = resolvePointer(observation.output, contract.evidence.recordsPointer);
  if (!found.found || !Array.isArray(found.value))
    throw refusal(observation, 'ERR_TOOL_OUTPUT_SCHEMA', `no array of records at ${contract.evidence.recordsPointer}`);
  if (found.value.length > RECORD_COUNT_MAX)
    throw refusal(
      observation,
      'ERR_TOOL_OUTPUT_SCHEMA',
      `${found.value.length} records, more than ${RECORD_COUNT_MAX}`,
    );
  return found.value;
}

/** The tenant first: of a foreign record not even its shape is told. */
function checkRecord<R>(observation: Observation<R>, record: unknown, index: number): Checked<R> {
  const { contract, parseRecord } = observation.tool;
  const { evidence } = contract;
  const say = (code: ErrorCode, what: string): CaseOpsError => refusal(observation, code, `record ${index} ${what}`);
  const tenant = textAt(record, evidence.tenantPointer);
  if (tenant === undefined) throw say('ERR_TOOL_OUTPUT_TENANT', 'does not say its tenant');
  if (tenant !== observation.tenant) throw say('ERR_TOOL_OUTPUT_TENANT', `is not of tenant ${observation.tenant}`);
  const id = textAt(record, evidence.idPointer);
  if (id === undefined) throw say('ERR_TOOL_OUTPUT_SCHEMA', 'has no id');
  if (evidence.anchorType === contract.resource.type && id !== observation.resourceId)
    throw say(
      'ERR_TOOL_OUTPUT_RESOURCE',
      `is another ${contract.resource.type} than ${observation.resourceId}, which was asked for`,
    );
  const version = textAt(record, evidence.versionPointer);
  if (version === undefined || !evidenceSchema.shape.version.safeParse(version).success)
    throw say('ERR_TOOL_OUTPUT_VERSION', 'has no version by which it could be cited');
  const observedAt = observationTime(observation, textAt(record, evidence.observedAtPointer));
  if (observedAt === undefined)
    throw say('ERR_TOOL_OUTPUT_VERSION', 'does not say when it was observed, or says a time to come');
  const { data, parsed } = dataOf(observation, record, { parseRecord, say });
  const anchor = evidenceSchema.shape.anchor.safeParse(`${evidence.anchorType}:${id}`);
  if (!anchor.success) throw say('ERR_TOOL_OUTPUT_SCHEMA', 'has an id that cannot stand in an anchor');
  const open = openEvidence(observation, {
    anchor: anchor.data,
    version,
    observedAt,
    digest: digestOf(data),
  });
  return { open, data, parsed };
}

interface Reading<R> {
  readonly parseRecord: Observation<R>['tool']['parseRecord'];
  readonly say: (code: ErrorCode, what: string) => CaseOpsError;
}

function dataOf<R>(observation: Observation<R>, record: unknown, by: Reading<R>): Pick<Checked<R>, 'data' | 'parsed'> {
  const data = resolvePointer(record, observation.tool.contract.evidence.dataPointer);
  if (!data.found) throw by.say('ERR_TOOL_OUTPUT_SCHEMA', 'has no data');
  const parsed = by.parseRecord(data.value);
  if (parsed.ok) return { data: data.value, parsed: parsed.value };
  const where = parsed.issues.map(({ pointer }) => pointer || '/').join(', ');
  throw by.say('ERR_TOOL_OUTPUT_SCHEMA', `does not conform to the tool's record schema at ${where}`);
}

function openEvidence(
  { tool: { contract }, callId }: Observation<unknown>,
  record: { readonly anchor: string; readonly version: string; readonly observedAt: string; readonly digest: Digest },
): Omit<Evidence, 'evidenceId'> {
  return {
    source: contract.evidence.source,
    ...record,
    trust: contract.evidence.trust,
    readers: [contract.classification],
    callId,
  };
}

function observationTime(observation: Observation<unknown>, text: string | undefined): string | undefined {
  if (text === undefined || !timestamp.safeParse(text).success) return undefined;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) || atMs > observation.receivedAtMs + OBSERVATION_SKEW_MS ? undefined : text;
}

function textAt(record: unknown, pointer: string): string | undefined {
  const found = resolvePointer(record, pointer);
  return found.found && typeof found.value === 'string' && found.value !== '' ? found.value : undefined;
}

function contradiction(observation: Observation<unknown>, open: Omit<Evidence, 'evidenceId'>): CaseOpsError {
  return refusal(
    observation,
    'ERR_TOOL_OUTPUT_VERSION',
    `${open.anchor}@${open.version} in two forms, and one version of a record has one content`,
  );
}

function refusal({ tool, callId }: Observation<unknown>, code: ErrorCode, what: string): CaseOpsError {
  const { server, tool: name } = tool.contract;
  return new CaseOpsError(code, `Tool ${server}/${name} returned in call ${callId}: ${what}.`, {
    at: 'worker',
    detail: { server, tool: name, callId },
  });
}
