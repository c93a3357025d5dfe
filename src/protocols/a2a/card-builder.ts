/** Builds the wire JSON of a team's card; signing it is the caller's. Source: A2A 1.0.1 §4.4, §8; PROTOCOLS "A2A". */
import { ARTIFACT_MEDIA_TYPE } from '#contracts/artifact.ts';
import { LEASE_EXTENSION } from '#contracts/lease.ts';
import type { TeamDefinition } from '#ports/team-definition.ts';
import { CONTRACTS_EXTENSION, type ContractsParams } from './card-contract.ts';
import { DISPATCH_MEDIA_TYPE } from './dispatch-message.ts';
import { A2A_VERSION } from './protocol-version.ts';

export interface CardPlace {
  /** Base URLs of the two interfaces; the first one is the preferred. */
  readonly audiences: { readonly rest: string; readonly rpc: string };
  /** Workload identity of the team. */
  readonly workload: string;
  /** Audience of leases per tool server of the team. */
  readonly toolAudiences: Readonly<Record<string, string>>;
}

export type CardJson = Readonly<Record<string, unknown>>;

/** All required members are written, also when empty, since the signature is over what is written. */
export function buildCard(team: TeamDefinition, place: CardPlace): CardJson {
  const params: ContractsParams = {
    workload: place.workload,
    policyDigest: team.policyDigest,
    toolAudiences: { ...place.toolAudiences },
    contracts: [...team.skills],
  };
  return {
    name: team.name,
    description: team.description,
    version: team.version,
    supportedInterfaces: [interfaceAt(place.audiences.rest, 'HTTP+JSON'), interfaceAt(place.audiences.rpc, 'JSONRPC')],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        { uri: LEASE_EXTENSION, description: 'Every operation takes a lease for exactly it.', required: true },
        { uri: CONTRACTS_EXTENSION, description: 'The contracts of the skills.', required: false, params },
      ],
    },
    securitySchemes: { lease: { httpAuthSecurityScheme: { scheme: 'DPoP', bearerFormat: 'at+jwt' } } },
    securityRequirements: [{ schemes: { lease: { list: [] } } }],
    defaultInputModes: [DISPATCH_MEDIA_TYPE],
    defaultOutputModes: [ARTIFACT_MEDIA_TYPE],
    skills: team.skills.map((skill) => ({
      id: skill.skillId,
      name: skill.skillId,
      description: skill.description,
      tags: [skill.risk, ...skill.purposes],
    })),
  };
}

function interfaceAt(url: string, protocolBinding: string): CardJson {
  return { url, protocolBinding, protocolVersion: A2A_VERSION };
}
