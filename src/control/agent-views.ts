/** The teams as control finds them now. Source: SURFACES "agents ls". */
import type { AgentView } from '#ports/run-desk.ts';
import type { CapabilityDirectory } from './capability-directory.ts';

/** One line per configured team; a team that does not answer is listed with the reason. */
export function agentViews(directory: CapabilityDirectory, signal: AbortSignal): Promise<readonly AgentView[]> {
  return Promise.all(
    directory.teams.map(async (team): Promise<AgentView> => {
      directory.forget(team);
      const found = await directory.find(team, signal);
      if (!found.ok) return { ...NOTHING_KNOWN, team, reason: found.error.message };
      const { card, skills, policyDigest } = found.announcement;
      return {
        team,
        available: true,
        reason: null,
        cardName: card.cardName,
        cardVersion: card.cardVersion,
        protocolVersion: card.protocolVersion,
        verifiedBy: card.verifiedBy ?? null,
        url: card.interfaces[0]?.url ?? null,
        policyDigest,
        skills: skills.map(({ skillId, version, risk, available, actions, description }) => ({
          skillId,
          version,
          risk,
          available,
          actions,
          description,
        })),
      };
    }),
  );
}

const NOTHING_KNOWN = {
  available: false,
  cardName: null,
  cardVersion: null,
  protocolVersion: null,
  verifiedBy: null,
  url: null,
  policyDigest: null,
  skills: [],
} as const;
