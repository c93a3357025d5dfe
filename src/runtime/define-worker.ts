/** How a team's author puts a worker behind a skill. */
import type { SkillContract } from '#contracts/skill.ts';
import type { SkillDefinition, WorkerContext, WorkerEndpoint, WorkerResult } from '#ports/team-definition.ts';
import { CaseOpsError } from '#contracts/error.ts';

export interface WorkerOptions<I, A> {
  /** The worker's name in artifacts and tool calls. */
  readonly name: string;
  /** Does the work. May cite only evidence of its own calls. A throw becomes a structured error without its text. */
  readonly run: (input: I, context: WorkerContext) => Promise<WorkerResult<NoInfer<A>>>;
}

/** A worker endpoint that remembers its skill's contract, for `defineTeam`. */
export interface DefinedWorker extends WorkerEndpoint {
  readonly contract: Omit<SkillContract, 'team' | 'available'>;
}

/**
 * A worker with one named skill. The artifact's type comes from the skill alone, so that a worker that forgets a field of it does
 * not compile.
 */
export function defineWorker<I, A>(skill: SkillDefinition<I, A>, options: WorkerOptions<I, NoInfer<A>>): DefinedWorker {
  return {
    name: options.name,
    contract: skill.contract,
    skillId: skill.contract.skillId,
    skillVersion: skill.contract.version,
    tools: skill.tools.map(({ contract }) => contract),
    parseInput: skill.parseInput,
    parseArtifact: skill.parseArtifact,
    run: async (input, context) => {
      // Typed again where the types were forgotten: the caller passes what `parseInput` returned, or is refused here.
      const parsed = skill.parseInput(input);
      if (parsed.ok) return options.run(parsed.value, context);
      throw new CaseOpsError('ERR_SCHEMA', `The input of worker ${options.name} does not conform to its skill.`, {
        at: 'worker',
      });
    },
  };
}
