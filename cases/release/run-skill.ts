/** Runs one skill of a team in this process, without a run around it: for the case's own tests. */
import type { Observed, TeamDefinition, ToolDefinition, WorkerContext, WorkerResult } from 'caseops';

export interface SkillRun {
  readonly skill: string;
  readonly input: unknown;
  readonly tenant?: string;
}

export interface SkillRan {
  readonly result: WorkerResult<unknown>;
  /** In order: `releases.get`. */
  readonly calls: readonly string[];
  readonly observed: readonly Observed<unknown>[];
}

/** Rejects with what the worker throws, and when input or result do not conform to the skill. */
export async function runSkill(
  team: TeamDefinition,
  { skill, input, tenant = 'tenant-7' }: SkillRun,
): Promise<SkillRan> {
  const worker = team.workers.find(({ skillId }) => skillId === skill);
  if (worker === undefined) throw new Error(`team ${team.name} has no worker for ${skill}`);
  const parsed = worker.parseInput(input);
  if (!parsed.ok) throw new Error(`the input of ${skill} does not conform: ${JSON.stringify(parsed.issues)}`);
  const calls: string[] = [];
  const seen: Observed<unknown>[] = [];
  const { signal } = new AbortController();
  const context: WorkerContext = {
    signal,
    deadlineAt: '2026-07-23T10:00:00.000Z',
    language: 'en',
    tenant,
    subject: `requester@${tenant}`,
    call: async <I, R>(tool: ToolDefinition<I, R>, args: I): Promise<readonly Observed<R>[]> => {
      const endpoint = team.mcpServers
        .flatMap(({ tools }) => tools)
        .find(({ contract }) => contract.tool === tool.contract.tool);
      if (endpoint === undefined) throw new Error(`nobody serves ${tool.contract.tool}`);
      calls.push(tool.contract.tool);
      const caller = { tenant, subject: `requester@${tenant}`, purpose: 'release_promotion', leaseId: 'lse_1', signal };
      const records = await endpoint.invoke(args, caller);
      const found = records.map((record, index) => observed(tool, { record, index: calls.length * 100 + index }));
      seen.push(...found);
      return found;
    },
  };
  const result = await worker.run(parsed.value, context);
  if ('data' in result && !worker.parseArtifact(result.data).ok)
    throw new Error(`the result of ${skill} does not conform: ${JSON.stringify(result.data)}`);
  return { result, calls, observed: seen };
}

type Returned = Awaited<ReturnType<TeamDefinition['mcpServers'][number]['tools'][number]['invoke']>>[number];

function observed<I, R>(
  { contract, parseRecord }: ToolDefinition<I, R>,
  { record, index }: { readonly record: Returned; readonly index: number },
): Observed<R> {
  const parsed = parseRecord(record.data);
  if (!parsed.ok) throw new Error(`a record of ${contract.tool} does not conform: ${JSON.stringify(parsed.issues)}`);
  return {
    record: parsed.value,
    evidence: {
      evidenceId: `ev_${index}`,
      source: contract.evidence.source,
      anchor: `${contract.evidence.anchorType}:${record.id}`,
      version: record.version,
      observedAt: record.observedAt,
      digest: `sha256:${'0'.repeat(64)}`,
      trust: 'authoritative',
      readers: [],
    },
  };
}
