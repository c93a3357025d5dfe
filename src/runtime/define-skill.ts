/** How a team's author defines one skill: its contract and its parsers. Source: CONTRACTS "Skill contract". */
import { CaseOpsError } from '#contracts/error.ts';
import { skillContract, type SkillContract } from '#contracts/skill.ts';
import type { ToolContract } from '#contracts/tool-contract.ts';
import type { SkillDefinition, ToolDefinition } from '#ports/team-definition.ts';
import { z } from 'zod';
import { parserOf, schemaDocument } from './schema-document.ts';

export interface SkillOptions<I extends z.ZodObject, A extends z.ZodObject> {
  readonly id: string;
  /** Semantic version of the contract; default 1.0.0. */
  readonly version?: string;
  readonly description: string;
  readonly input: I;
  readonly artifact: A;
  /**
   * Which input is filled from which kind of entity or upstream output. Every input without a default must be named. Left out: each
   * of those is filled from the kind of its own name.
   */
  readonly requires?: readonly { readonly name: keyof z.output<I> & string; readonly kind: string }[];
  /** Output kinds and where each is in the artifact's data (JSON pointer; empty: the whole). */
  readonly produces: readonly { readonly kind: string; readonly pointer: string }[];
  /** Default `read_only`. */
  readonly risk?: SkillContract['risk'];
  /** Default: exactly the actions of its tools. */
  readonly actions?: readonly string[];
  /** Default none. */
  readonly effectActions?: readonly string[];
  /** Which input names a resource: `{ type: 'claim', input: 'claim_id' }`. Default: what its tools read, by arguments of that name. */
  readonly resources?: readonly { readonly type: string; readonly input: keyof z.output<I> & string }[];
  /** Default: the purposes that all its tools serve. */
  readonly purposes?: readonly string[];
  /** The tools its worker may call; none: its lease may not be narrowed further. */
  readonly tools: readonly ToolDefinition<unknown, unknown>[];
  /** Default: the data classes of its tools, or `internal`. */
  readonly datatypes?: readonly string[];
  /** Default: the anchor types of its tools, and at least one piece of evidence if it has tools. */
  readonly evidence?: { readonly anchorTypes?: readonly string[]; readonly countMin?: number };
  /** Under which results of a strong dependency it may start, besides `completed`. Default none. */
  readonly acceptedResults?: SkillContract['acceptedResults'];
  readonly acceptanceCriteria?: readonly string[];
  readonly stateFields?: readonly string[];
  /** Default `none`; `person` for an effect. */
  readonly approval?: SkillContract['approval'];
  /** Default 10,000 ms. */
  readonly timeoutMs?: number;
  /** Less than this left before the deadline: not started. Default 10 ms. */
  readonly minimumRuntimeMs?: number;
  /** Default 1,000 ms. */
  readonly latencySloMs?: number;
  /** Default 2 attempts, 100 ms apart; 1 attempt for an effect. */
  readonly retry?: SkillContract['retry'];
  /** Default: one call per tool and one more for a retried read, no model tokens, and the skill's timeout. */
  readonly budget?: { readonly toolCallCountMax?: number; readonly modelTokenCountMax?: number };
  readonly whichArtifact?: SkillContract['whichArtifact'];
}

/**
 * A skill definition; `defineTeam` adds the team and whether somebody can run it.
 * Throws ERR_CONFIG when the contract is not well formed or an input can never be filled.
 */
export function defineSkill<I extends z.ZodObject, A extends z.ZodObject>(
  options: SkillOptions<I, A>,
): SkillDefinition<z.output<I>, z.output<A>> {
  const checked = skillContract.omit({ team: true, available: true }).safeParse({
    ...schemasOf(options),
    ...authorityOf(options),
    ...limitsOf(options),
  });
  if (!checked.success) throw malformed(options.id, z.prettifyError(checked.error));
  const unfilled = unfilledInputs(checked.data);
  if (unfilled.length > 0)
    throw malformed(options.id, `no requirement fills the required input ${unfilled.join(', ')}`);
  return {
    contract: checked.data,
    parseInput: parserOf<z.output<I>>(options.input.strict() as never),
    parseArtifact: parserOf<z.output<A>>(options.artifact.strict() as never),
    tools: [...options.tools],
  };
}

type AnySkill = SkillOptions<z.ZodObject, z.ZodObject>;

const VERSION_DEFAULT = '1.0.0';

function schemasOf(
  options: AnySkill,
): Pick<SkillContract, 'skillId' | 'version' | 'description' | 'input' | 'artifact' | 'requires' | 'produces'> {
  const { id, description, version = VERSION_DEFAULT } = options;
  const urn = `urn:caseops:skill:${id}`;
  const input = schemaDocument({ id: `${urn}:input`, version, schema: options.input.strict(), side: 'input' });
  const requires = options.requires ?? requiredOf(input).map((name) => ({ name, kind: name }));
  return {
    skillId: id,
    version,
    description,
    input,
    artifact: schemaDocument({
      id: `${urn}:artifact`,
      version,
      schema: options.artifact.strict(),
      side: 'output',
    }),
    requires: requires.map(({ name, kind }) => ({ name, kind })),
    produces: options.produces.map(({ kind, pointer }) => ({ kind, pointer })),
  };
}

function authorityOf(options: AnySkill): Partial<SkillContract> {
  const tools = options.tools.map(({ contract }) => contract);
  const classes = unique(tools.map(({ classification }) => classification));
  const effectActions = [...(options.effectActions ?? [])];
  const risk = options.risk ?? 'read_only';
  return {
    risk,
    actions: [...(options.actions ?? unique(tools.flatMap(({ requiredActions }) => requiredActions)))],
    effectActions,
    resources: [...(options.resources ?? resourcesOf(tools))].map(({ type, input }) => ({ type, input })),
    datatypes: [...(options.datatypes ?? (classes.length > 0 ? classes : ['internal']))],
    purposes: [...(options.purposes ?? sharedPurposes(tools))],
    toolContracts: tools.map(({ server, tool, version, digest }) => ({ server, tool, version, digest })),
    evidence: {
      anchorTypes: [...(options.evidence?.anchorTypes ?? unique(tools.map(({ evidence }) => evidence.anchorType)))],
      countMin: options.evidence?.countMin ?? (tools.length > 0 ? 1 : 0),
    },
    approval: options.approval ?? (risk === 'effect' ? 'person' : 'none'),
    sideEffect: risk === 'effect' || effectActions.length > 0 ? 'external' : 'none',
  };
}

function limitsOf(options: AnySkill): Partial<SkillContract> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const callCount = options.tools.length === 0 ? 0 : options.tools.length + 1;
  return {
    acceptedResults: [...(options.acceptedResults ?? [])],
    acceptanceCriteria: [...(options.acceptanceCriteria ?? [])],
    stateFields: [...(options.stateFields ?? [])],
    timeoutMs,
    minimumRuntimeMs: options.minimumRuntimeMs ?? 10,
    latencySloMs: options.latencySloMs ?? 1_000,
    retry: options.retry ?? { attemptCountMax: options.risk === 'effect' ? 1 : 2, backoffMs: 100 },
    stepBudget: {
      toolCallCountMax: options.budget?.toolCallCountMax ?? callCount,
      modelTokenCountMax: options.budget?.modelTokenCountMax ?? 0,
      timeoutMs,
    },
    taskSupport: 'forbidden',
    whichArtifact: options.whichArtifact ?? 'only',
  };
}

function unfilledInputs(contract: Pick<SkillContract, 'input' | 'requires'>): readonly string[] {
  const filled = new Set(contract.requires.map(({ name }) => name));
  return requiredOf(contract.input).filter((name) => !filled.has(name));
}

function requiredOf({ schema }: SkillContract['input']): readonly string[] {
  return z.array(z.string()).catch([]).parse(schema['required']);
}

function resourcesOf(tools: readonly ToolContract[]): SkillContract['resources'] {
  const byKey = new Map(
    tools.map(({ resource: { type, argument } }) => [`${type}:${argument}`, { type, input: argument }]),
  );
  return [...byKey.values()];
}

/** A lease for a tool has the skill's purpose, so a purpose that one tool does not serve is none of the skill's. */
function sharedPurposes(tools: readonly ToolContract[]): readonly string[] {
  const [first, ...rest] = tools;
  return (first?.purposes ?? []).filter((purpose) => rest.every(({ purposes }) => purposes.includes(purpose)));
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

function malformed(skillId: string, why: string): CaseOpsError {
  return new CaseOpsError('ERR_CONFIG', `The contract of skill ${skillId} is not well formed: ${why}.`, {
    at: 'runtime',
  });
}
