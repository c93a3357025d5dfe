/** A program's tool as its calls see it: the contract in the log, where its records are, how its arguments are checked. */
import type { AdoptedTool, RecordMapping, ToolFramework } from '#contracts/call-events.ts';
import { recordMapping } from '#contracts/call-events.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { JsonSchema } from '#contracts/json-schema.ts';
import type { SchemaDocument } from '#contracts/skill.ts';
import { toolContract, type ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Parsed } from '#ports/team-definition.ts';
import { z } from 'zod';
import type { GovernedToolOptions } from './governed-options.ts';
import { readSchema, type SchemaReader } from './value-schema.ts';

/** What an adapter has read of a framework's tool. */
export interface ForeignTool {
  readonly framework: ToolFramework;
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  /** Undefined: the tool declares none. */
  readonly outputSchema: unknown;
}

/** Checked once; the same for every call. */
export interface GovernedTool {
  readonly name: string;
  readonly framework: ToolFramework;
  readonly actions: readonly string[];
  readonly resource: GovernedToolOptions['resource'];
  readonly timeoutMs: number;
  readonly input: SchemaReader;
  readonly output: SchemaReader | undefined;
  readonly mapping: RecordMapping;
  readonly parseRecord: (data: unknown) => Parsed<unknown>;
  /** With the input schema as far as the tool can say it. */
  readonly adopted: () => Promise<AdoptedTool>;
}

const VERSION = '1.0.0';
const TIMEOUT_MS = 30_000;
/** A lease's lifetime bounds what may be waited for. */
const TIMEOUT_MS_MAX = 300_000;

/** Throws ERR_CONFIG naming what is not well formed. */
export function adoptTool(foreign: ForeignTool, options: GovernedToolOptions, purpose: string): GovernedTool {
  const toolName = options.name ?? foreign.name;
  const input = readSchema(foreign.inputSchema, `the input schema of tool ${toolName}`);
  const output =
    foreign.outputSchema === undefined
      ? undefined
      : readSchema(foreign.outputSchema, `the output schema of tool ${toolName}`);
  const mapping = mappingOf(toolName, options);
  const facts = { foreign, options, purpose, toolName };
  const { timeoutMs } = contractOf(facts, undefined);
  if (timeoutMs > TIMEOUT_MS_MAX)
    throw config(toolName, `expected a timeout of at most ${TIMEOUT_MS_MAX} ms, not ${timeoutMs}`);
  let adopted: Promise<AdoptedTool> | undefined;
  const adopt = async (): Promise<AdoptedTool> => {
    const contract = contractOf(facts, await input.jsonSchema());
    return { framework: foreign.framework, contract, mapping };
  };
  return {
    name: toolName,
    framework: foreign.framework,
    actions: [...options.actions],
    resource: { ...options.resource },
    timeoutMs,
    input,
    output,
    mapping,
    parseRecord: recordParser(toolName, options),
    adopted: () => (adopted ??= adopt()),
  };
}

interface ContractFacts {
  readonly foreign: ForeignTool;
  readonly options: GovernedToolOptions;
  readonly purpose: string;
  readonly toolName: string;
}

/** The records are those of the mapping: what the tool returned, in the form that the binder takes. */
function contractOf(
  { foreign, options, purpose, toolName }: ContractFacts,
  input: JsonSchema | undefined,
): ToolContract {
  const { evidence, classification = 'internal', timeoutMs = TIMEOUT_MS } = options;
  const open = {
    server: foreign.framework,
    tool: toolName,
    version: VERSION,
    protocolVersion: 'in-process',
    description: foreign.description.slice(0, 500),
    input: document(`${toolName}:input`, { ...input }),
    output: document(`${toolName}:output`, OUTPUT_SCHEMA),
    sideEffect: 'none',
    risk: 'read_only',
    requiredActions: [...options.actions],
    purposes: [purpose],
    resource: { ...options.resource },
    classification,
    timeoutMs,
    latencySloMs: timeoutMs,
    idempotency: 'none',
    taskSupport: 'forbidden',
    evidence: {
      source: evidence.source,
      anchorType: evidence.anchorType,
      ...POINTERS,
      trust: evidence.trust ?? 'reported',
    },
  };
  const checked = toolContract.safeParse({ ...open, digest: digestOf(open) });
  if (checked.success) return checked.data;
  throw config(toolName, `its description is not well formed: ${z.prettifyError(checked.error)}`);
}

const POINTERS = {
  recordsPointer: '/records',
  dataPointer: '/data',
  idPointer: '/id',
  versionPointer: '/version',
  observedAtPointer: '/observedAt',
  tenantPointer: '/tenant',
} as const;

const OUTPUT_SCHEMA = { type: 'object', properties: { records: { type: 'array' } }, required: ['records'] } as const;

function document(id: string, schema: Record<string, unknown>): Omit<SchemaDocument, 'schema'> & { schema: unknown } {
  return { schemaId: `urn:caseops:governed:${id}`, schemaVersion: VERSION, digest: digestOf(schema), schema };
}

function mappingOf(toolName: string, { evidence }: GovernedToolOptions): RecordMapping {
  const { soleTenant = null } = evidence;
  if (evidence.tenantPointer !== undefined && soleTenant !== null)
    throw config(toolName, 'evidence.tenantPointer and evidence.soleTenant exclude each other');
  const tenantPointer = soleTenant === null ? (evidence.tenantPointer ?? '/tenant') : null;
  const checked = recordMapping.safeParse({
    recordsPointer: evidence.recordsPointer ?? '',
    dataPointer: evidence.dataPointer ?? '',
    idPointer: evidence.idPointer ?? '/id',
    versionPointer: evidence.versionPointer ?? '/version',
    tenantPointer,
    soleTenant,
    observedAtPointer: evidence.observedAtPointer ?? null,
  });
  if (checked.success) return checked.data;
  throw config(toolName, `its evidence description is not well formed: ${z.prettifyError(checked.error)}`);
}

function recordParser(toolName: string, { evidence }: GovernedToolOptions): GovernedTool['parseRecord'] {
  if (evidence.record === undefined) return (value) => ({ ok: true, value });
  const schema = readSchema(evidence.record, `the record schema of tool ${toolName}`);
  return (value) => {
    const verdict = schema.validate(value);
    if (verdict instanceof Promise) {
      verdict.catch(() => undefined);
      return { ok: false, issues: [{ pointer: '', message: 'the record schema validates asynchronously' }] };
    }
    return verdict.ok ? verdict : { ok: false, issues: verdict.findings };
  };
}

function config(toolName: string, what: string): CaseOpsError {
  return new CaseOpsError('ERR_CONFIG', `Tool ${toolName} cannot be governed: ${what}.`.slice(0, 2_000), {
    at: 'runtime',
  });
}
