/** How a team's author pins one MCP tool. Source: PROTOCOLS "MCP" (tool contract). */
import { CaseOpsError } from '#contracts/error.ts';
import { toolContract, type ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { ServedTool, ToolDefinition, ToolEndpoint } from '#ports/team-definition.ts';
import { z } from 'zod';
import { parserOf, schemaDocument } from './schema-document.ts';

/** The MCP revision that a contract pins unless it names another. */
const PROTOCOL_VERSION = '2026-07-28';

export interface ToolOptions<I extends z.ZodObject, R extends z.ZodObject> {
  /** The MCP server that serves it. */
  readonly server: string;
  readonly name: string;
  /** Semantic version of the contract; default 1.0.0. */
  readonly version?: string;
  readonly description: string;
  /** The arguments. No tool takes a tenant: it comes from the lease. */
  readonly input: I;
  /** The data of one record: what slots of claims point into. */
  readonly record: R;
  /** Which argument names the resource: `{ type: 'claim', argument: 'claim_id' }`. */
  readonly resource: { readonly type: string; readonly argument: keyof z.output<I> & string };
  /** The system that owns the records, such as `claims-db`; default: the server's name. */
  readonly source?: string;
  /** The part of an anchor before `:`, such as `claim`. */
  readonly anchorType: string;
  readonly actions: readonly string[];
  readonly purposes: readonly string[];
  /** Default `read_only`. */
  readonly risk?: ToolContract['risk'];
  /** Default `none`. */
  readonly sideEffect?: ToolContract['sideEffect'];
  /** Data class of what it returns; default `internal`. */
  readonly classification?: string;
  /** Default 5,000 ms. */
  readonly timeoutMs?: number;
  /** Default 500 ms. */
  readonly latencySloMs?: number;
  /** Default `authoritative`. */
  readonly trust?: ToolContract['evidence']['trust'];
  /** Default `read` for a tool without side effect, `none` otherwise. */
  readonly idempotency?: ToolContract['idempotency'];
}

/**
 * A tool contract with its parsers. The output is `{ records: [{ id, version, tenant, observedAt, data }] }`; version, tenant and
 * time are optional on the wire, so that the evidence binder refuses their absence with a code of its own.
 * Throws ERR_CONFIG when the contract is not well formed.
 */
export function defineTool<I extends z.ZodObject, R extends z.ZodObject>(
  options: ToolOptions<I, R>,
): ToolDefinition<z.output<I>, z.output<R>> {
  const open = {
    ...wireOf(options),
    sideEffect: options.sideEffect ?? 'none',
    risk: options.risk ?? 'read_only',
    requiredActions: [...options.actions],
    purposes: [...options.purposes],
    resource: { ...options.resource },
    classification: options.classification ?? 'internal',
    timeoutMs: options.timeoutMs ?? 5_000,
    latencySloMs: options.latencySloMs ?? 500,
    idempotency: options.idempotency ?? (options.sideEffect === 'external' ? 'none' : 'read'),
    taskSupport: 'forbidden',
    evidence: {
      source: options.source ?? options.server,
      anchorType: options.anchorType,
      recordsPointer: '/records',
      dataPointer: '/data',
      idPointer: '/id',
      versionPointer: '/version',
      observedAtPointer: '/observedAt',
      tenantPointer: '/tenant',
      trust: options.trust ?? 'authoritative',
    },
  };
  const checked = toolContract.safeParse({ ...open, digest: digestOf(open) });
  if (!checked.success)
    throw new CaseOpsError(
      'ERR_CONFIG',
      `The contract of tool ${options.server}/${options.name} is not well formed: ${z.prettifyError(checked.error)}`,
      { at: 'runtime' },
    );
  return {
    contract: checked.data,
    parseInput: parserOf<z.output<I>>(options.input.strict() as never),
    parseRecord: parserOf<z.output<R>>(options.record.strict() as never),
  };
}

function wireOf(
  options: ToolOptions<z.ZodObject, z.ZodObject>,
): Pick<ToolContract, 'server' | 'tool' | 'version' | 'protocolVersion' | 'description' | 'input' | 'output'> {
  const { server, name, description, version = '1.0.0' } = options;
  const output = z.strictObject({
    records: z.array(
      z.strictObject({
        id: z.string(),
        version: z.string().optional(),
        tenant: z.string().optional(),
        observedAt: z.string().optional(),
        data: options.record.strict(),
      }),
    ),
  });
  const id = `urn:caseops:tool:${server}/${name}`;
  return {
    server,
    tool: name,
    version,
    protocolVersion: PROTOCOL_VERSION,
    description,
    input: schemaDocument({ id: `${id}:input`, version, schema: options.input.strict(), side: 'input' }),
    output: schemaDocument({ id: `${id}:output`, version, schema: output, side: 'output' }),
  };
}

/**
 * A tool with its handler, as an MCP server runs it. Arguments are parsed first: ERR_SCHEMA names every issue. The handler returns
 * records; none means "searched completely, found nothing".
 */
export function serveTool<I, R>(tool: ToolDefinition<I, R>, handle: ServedTool<I, R>['handle']): ToolEndpoint {
  return {
    contract: tool.contract,
    invoke: async (args, caller) => {
      const parsed = tool.parseInput(args);
      if (parsed.ok) return handle(parsed.value, caller);
      const { server, tool: name } = tool.contract;
      throw new CaseOpsError(
        'ERR_SCHEMA',
        `The arguments of ${server}/${name} do not conform to its input schema: ` +
          parsed.issues.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join('; '),
        { at: 'mcp' },
      );
    },
  };
}
