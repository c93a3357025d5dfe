/** How a team's author puts a model behind a skill: it proposes tool calls, deterministic code decides each. Source: DESIGN §3.5. */
import { CaseOpsError } from '#contracts/error.ts';
import type { ToolProposer } from '#ports/model.ts';
import type { AgentSpec, SkillDefinition } from '#ports/team-definition.ts';
import type { DefinedWorker } from './define-worker.ts';

export interface AgenticWorkerOptions {
  /** The worker's name in artifacts and tool calls. */
  readonly name: string;
  readonly model: ToolProposer;
  /** What the model is told to do; the skill, its tools and what was observed come with it. */
  readonly prompt: string;
  /** Proposals per attempt, refused ones included; at least 2: one call and the end. */
  readonly stepCountMax: number;
  /** Model tokens per attempt; the narrower of this and the dispatch's budget holds. */
  readonly tokenCountMax: number;
  /** How often the same call (tool and arguments) may be proposed again; 0: never. */
  readonly repeatCountMax: number;
  /** Of one proposal; default 30,000 ms. */
  readonly proposalTimeoutMs?: number;
}

/**
 * A worker whose facts come from its tools alone: the model chooses what to read and which observed value belongs in which field, and
 * spells none. Throws ERR_CONFIG when a bound is none, when the skill grants no model tokens or has no tool, and when a tool of the
 * skill changes something: what a model proposes may read, and nothing else.
 */
export function defineAgenticWorker<I, A>(skill: SkillDefinition<I, A>, options: AgenticWorkerOptions): DefinedWorker {
  const spec: AgentSpec = {
    model: options.model,
    prompt: options.prompt,
    tools: skill.tools,
    stepCountMax: options.stepCountMax,
    tokenCountMax: options.tokenCountMax,
    repeatCountMax: options.repeatCountMax,
    proposalTimeoutMs: options.proposalTimeoutMs ?? 30_000,
  };
  const fault = faultOf(skill, spec);
  if (fault !== undefined)
    throw new CaseOpsError('ERR_CONFIG', `The agentic worker ${options.name} is not well formed: ${fault}.`, {
      at: 'runtime',
    });
  return {
    name: options.name,
    contract: skill.contract,
    skillId: skill.contract.skillId,
    skillVersion: skill.contract.version,
    tools: skill.tools.map(({ contract }) => contract),
    parseInput: skill.parseInput,
    parseArtifact: skill.parseArtifact,
    agent: spec,
    run: () =>
      Promise.reject(
        new CaseOpsError('ERR_CONFIG', `Worker ${options.name} is agentic: its team runs it, nobody calls it.`, {
          at: 'runtime',
        }),
      ),
  };
}

function faultOf({ contract, tools }: SkillDefinition<unknown, unknown>, spec: AgentSpec): string | undefined {
  const bounds: readonly (readonly [name: string, value: number, min: number])[] = [
    ['stepCountMax', spec.stepCountMax, 2],
    ['tokenCountMax', spec.tokenCountMax, 1],
    ['repeatCountMax', spec.repeatCountMax, 0],
    ['proposalTimeoutMs', spec.proposalTimeoutMs, 1],
  ];
  const wrong = bounds.find(([, value, min]) => !Number.isSafeInteger(value) || value < min);
  if (wrong !== undefined) return `${wrong[0]} must be a whole number of at least ${wrong[2]}, not ${wrong[1]}`;
  if (tools.length === 0) return `skill ${contract.skillId} has no tool that a model could propose`;
  if (contract.stepBudget.modelTokenCountMax === 0)
    return `the budget of skill ${contract.skillId} has no model tokens`;
  const writing = tools.find(({ contract: tool }) => tool.sideEffect !== 'none' || tool.risk === 'effect');
  return writing === undefined
    ? undefined
    : `tool ${writing.contract.tool} changes something, and a model may only read`;
}
