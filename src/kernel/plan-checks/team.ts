/** Can the named team do the named skill: card known and verified, protocol spoken, contract version there and runnable. */
import type { CapabilityCard } from '#contracts/capability-snapshot.ts';
import type { PlanCheck } from './context.ts';
import { append } from './context.ts';

const TEAM_PROTOCOL_VERSION = '1.0';

export const checkTeams: PlanCheck = ({ planned, snapshot }, report) => {
  const versions = new Map<string, string[]>();
  for (const { team, skillId, version } of snapshot.skills) append(versions, `${team} ${skillId}`, version);
  const unavailable = new Map(snapshot.unavailable.map(({ team, reason }) => [team, reason]));
  for (const entry of planned) {
    const { step, at, card, skill } = entry;
    if (card === undefined) {
      const got = unavailable.has(step.team)
        ? `${step.team}, which did not answer: ${unavailable.get(step.team)}`
        : step.team;
      report('TEAM_UNKNOWN', `${at}/team`, { expected: 'a team of the snapshot', got });
      continue;
    }
    if (card.verifiedBy === undefined)
      report('TEAM_UNVERIFIED', `${at}/team`, {
        expected: 'a card verified by a pinned key',
        got: `${step.team}, not verified`,
      });
    if (!speaksProtocol(card))
      report('TEAM_PROTOCOL', `${at}/team`, {
        expected: `protocol ${TEAM_PROTOCOL_VERSION}`,
        got: card.protocolVersion,
      });
    const found = versions.get(`${step.team} ${step.skillId}`);
    if (found === undefined)
      report('SKILL_UNKNOWN', `${at}/skillId`, { expected: `a skill of team ${step.team}`, got: step.skillId });
    else if (skill === undefined)
      report('SKILL_VERSION', `${at}/skillVersion`, { expected: found.join(' or '), got: step.skillVersion });
    else if (!skill.available)
      report('SKILL_UNAVAILABLE', `${at}/skillId`, {
        expected: 'a skill that can be run',
        got: `${step.skillId}, contract only`,
      });
  }
};

/** An in-process team is called without a wire protocol. */
export function speaksProtocol(card: CapabilityCard): boolean {
  return (
    card.protocolVersion === TEAM_PROTOCOL_VERSION || card.interfaces.some(({ binding }) => binding === 'INPROCESS')
  );
}
