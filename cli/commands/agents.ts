/** `caseops agents ls`: the teams as discovery sees them now. */
import type { AgentView } from 'caseops';
import { caseNamed } from '../cases.ts';
import { EXIT } from '../exit-codes.ts';
import { withServer } from '../local-server.ts';
import { print, printJson, printLines, table, type Format } from '../output.ts';

export async function agentsList(options: {
  readonly case: string;
  readonly as: string;
  readonly without: string;
  readonly output: Format;
}): Promise<number> {
  const without = options.without.split(',').filter((team) => team !== '');
  return withServer({ as: options.as, case: caseNamed(options.case), without }, async (client) => {
    const agents = await client.get<readonly AgentView[]>('/agents');
    if (options.output === 'json') printJson(agents);
    else if (options.output === 'jsonl') printLines(agents);
    else print(table([['team', 'state', 'card', 'protocol', 'verified by', 'skills'], ...agents.map(row)]));
    return EXIT.ok;
  });
}

function row(agent: AgentView): readonly string[] {
  const skills = agent.skills
    .map((skill) => `${skill.skillId}@${skill.version}${skill.available ? '' : ' (contract only)'}`)
    .join(', ');
  return [
    agent.team,
    agent.available ? 'available' : `unavailable: ${agent.reason ?? 'no reason given'}`,
    agent.cardVersion ?? '–',
    agent.protocolVersion ?? '–',
    agent.verifiedBy === null ? 'not verified' : `${agent.verifiedBy.slice(0, 4)}…${agent.verifiedBy.slice(-6)}`,
    skills || '–',
  ];
}
