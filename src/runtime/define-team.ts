/** How a team's author puts a team together: workers, the servers of their tools, and the team's own policy. */
import { CaseOpsError } from '#contracts/error.ts';
import { name as nameSchema, semver } from '#contracts/ids.ts';
import { skillContract, type SchemaDocument, type SkillContract } from '#contracts/skill.ts';
import { toolContract, type ToolContract } from '#contracts/tool-contract.ts';
import { digestOf } from '#kernel/digest.ts';
import type { McpServerDefinition, PolicyRow, SkillDefinition, TeamDefinition } from '#ports/team-definition.ts';
import type { DefinedWorker } from './define-worker.ts';
import { SUPERVISOR_WORKLOAD } from './workloads.ts';

export interface TeamOptions {
  readonly version: string;
  readonly description: string;
  readonly workers: readonly DefinedWorker[];
  /** Skills that are published but that nobody can run yet: no plan may use them. */
  readonly contractsOnly?: readonly { readonly contract: SkillDefinition<unknown, unknown>['contract'] }[];
  readonly mcpServers: readonly McpServerDefinition[];
  /** The team's own policy. Give this or `tenants`. */
  readonly policy?: readonly PolicyRow[];
  /** Instead of a policy: the supervisor may use each skill that is no effect, for its own purposes, for exactly these tenants. */
  readonly tenants?: readonly string[];
}

/**
 * A checked team. Throws one ERR_CONFIG that lists every finding: a worker whose tool no server serves or serves under another
 * contract, a version of a skill defined twice, a tool outside its skill's actions, purposes, data classes, resources or inputs (its
 * lease could never be narrowed), a skill's action without a row in the policy, a malformed name or version.
 */
export function defineTeam(name: string, options: TeamOptions): TeamDefinition {
  const skills = [
    ...options.workers.map(({ contract }): SkillContract => ({ ...contract, team: name, available: true })),
    ...(options.contractsOnly ?? []).map(({ contract }): SkillContract => ({
      ...contract,
      team: name,
      available: false,
    })),
  ];
  const policy = options.policy ?? policyFor(skills, options.tenants ?? []);
  const findings = [
    ...nameFindings(name, options),
    ...((options.policy === undefined) === (options.tenants === undefined)
      ? ['it needs either a policy or the tenants it serves']
      : []),
    ...skillFindings(skills),
    ...serverFindings(options.mcpServers),
    ...options.workers.flatMap((worker) => workerFindings(worker, options.mcpServers)),
    ...skills.filter(({ available }) => available).flatMap((skill) => policyFindings(skill, policy)),
  ];
  if (findings.length > 0)
    throw new CaseOpsError('ERR_CONFIG', `Team ${name} cannot be defined: ${findings.join('; ')}.`, {
      at: 'runtime',
      detail: { findings },
    });
  return {
    name,
    version: options.version,
    description: options.description,
    skills,
    workers: [...options.workers],
    mcpServers: [...options.mcpServers],
    policy: [...policy],
    policyDigest: digestOf(policy),
  };
}

/** Effects are never allowed by a shorthand. */
function policyFor(skills: readonly SkillContract[], tenants: readonly string[]): readonly PolicyRow[] {
  const rows = skills
    .filter(({ available, risk }) => available && risk !== 'effect')
    .flatMap(({ actions, resources, purposes }) =>
      actions.flatMap((action) =>
        resources.flatMap(({ type }) =>
          purposes.map((purpose) => ({
            actor: SUPERVISOR_WORKLOAD,
            action,
            resourceType: type,
            purpose,
            tenants: [...tenants],
          })),
        ),
      ),
    );
  // Two versions of a skill allow the same: the policy is as it was with one.
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}

function nameFindings(name: string, options: TeamOptions): readonly string[] {
  const names = [
    { what: 'team', value: name },
    ...options.workers.map((worker) => ({ what: 'worker', value: worker.name })),
    ...options.mcpServers.map((server) => ({ what: 'server', value: server.name })),
  ];
  return [
    ...names
      .filter(({ value }) => !nameSchema.safeParse(value).success)
      .map(({ what, value }) => `${JSON.stringify(value)} is no name for a ${what}`),
    ...(semver.safeParse(options.version).success
      ? []
      : [`its version must be major.minor.patch, not ${JSON.stringify(options.version)}`]),
    ...(options.workers.length > 0 ? [] : ['it has no worker']),
    ...repeated(options.workers.map((worker) => worker.name)).map((worker) => `two workers are called ${worker}`),
  ];
}

function skillFindings(skills: readonly SkillContract[]): readonly string[] {
  return [
    ...repeated(skills.map(({ skillId, version }) => `${skillId} ${version}`)).map(
      (skill) => `skill ${skill} is defined twice`,
    ),
    ...skills
      .filter((skill) => !skillContract.safeParse(skill).success)
      .map(({ skillId }) => `the contract of skill ${skillId} is not well formed`),
  ];
}

function serverFindings(servers: readonly McpServerDefinition[]): readonly string[] {
  return [
    ...repeated(servers.map(({ name }) => name)).map((server) => `two servers are called ${server}`),
    ...servers.flatMap((server) => [
      ...repeated(server.tools.map(({ contract }) => contract.tool)).map(
        (tool) => `server ${server.name} serves tool ${tool} twice`,
      ),
      ...server.tools.flatMap(({ contract }) => servedToolFindings(server.name, contract)),
    ]),
  ];
}

function servedToolFindings(server: string, contract: ToolContract): readonly string[] {
  const findings: string[] = [];
  if (contract.server !== server)
    findings.push(`server ${server} serves tool ${contract.tool}, whose contract names server ${contract.server}`);
  if (!toolContract.safeParse(contract).success)
    findings.push(`the contract of tool ${contract.server}/${contract.tool} is not well formed`);
  const { digest, ...rest } = contract;
  if (digestOf(rest) !== digest)
    findings.push(`the digest of tool ${contract.server}/${contract.tool} is not the one of its contract`);
  return findings;
}

function workerFindings(worker: DefinedWorker, servers: readonly McpServerDefinition[]): readonly string[] {
  return worker.tools.flatMap((tool) => {
    const label = `tool ${tool.server}/${tool.tool} of worker ${worker.name}`;
    const served = servers
      .find(({ name }) => name === tool.server)
      ?.tools.find(({ contract }) => contract.tool === tool.tool);
    const unserved = served === undefined ? [`${label} is served by no server of the team`] : [];
    const drifted =
      served !== undefined && served.contract.digest !== tool.digest
        ? [`${label} is served under another contract`]
        : [];
    return [...unserved, ...drifted, ...narrowingFindings(worker.contract, tool, label)];
  });
}

/** Bounded in every step's lease beside the inputs. */
const LANGUAGE = 'language';

/**
 * A tool's lease is narrowed from the step's lease: what the skill lacks, no tool of it can ever be given. Bounds are a closed world
 * over the skill's inputs, so an argument has the name of the input that bounds it. INV-10.
 */
function narrowingFindings(skill: DefinedWorker['contract'], tool: ToolContract, label: string): readonly string[] {
  const findings: string[] = [];
  for (const action of tool.requiredActions)
    if (!skill.actions.includes(action))
      findings.push(`${label} needs action ${action}, which skill ${skill.skillId} does not have`);
  for (const purpose of skill.purposes)
    if (!tool.purposes.includes(purpose))
      findings.push(`${label} does not serve purpose ${purpose} of skill ${skill.skillId}`);
  if (!skill.datatypes.includes(tool.classification))
    findings.push(`${label} returns ${tool.classification} data, which skill ${skill.skillId} does not name`);
  for (const argument of Object.keys(propertiesOf(tool.input)))
    if (argument !== LANGUAGE && !Object.hasOwn(propertiesOf(skill.input), argument))
      findings.push(`${label} takes argument ${argument}, which is no input of skill ${skill.skillId}`);
  if (!skill.resources.some(({ type }) => type === tool.resource.type))
    findings.push(`${label} reads resource type ${tool.resource.type}, which skill ${skill.skillId} does not name`);
  return findings;
}

function propertiesOf({ schema }: SchemaDocument): Readonly<Record<string, unknown>> {
  const properties = schema['properties'];
  return typeof properties === 'object' && properties !== null && !Array.isArray(properties) ? properties : {};
}

function policyFindings(skill: SkillContract, policy: readonly PolicyRow[]): readonly string[] {
  return skill.actions.flatMap((action) =>
    skill.resources.length === 0
      ? missingRow(skill, policy, { action })
      : skill.resources.flatMap(({ type }) => missingRow(skill, policy, { action, resourceType: type })),
  );
}

/** One row for any of the skill's purposes is enough: a policy may allow fewer purposes than the contract does. */
function missingRow(
  skill: SkillContract,
  policy: readonly PolicyRow[],
  wanted: { readonly action: string; readonly resourceType?: string },
): readonly string[] {
  const found = policy.some(
    (row) =>
      row.action === wanted.action &&
      (wanted.resourceType === undefined || row.resourceType === wanted.resourceType) &&
      skill.purposes.includes(row.purpose),
  );
  const on = wanted.resourceType === undefined ? '' : ` on ${wanted.resourceType}`;
  return found ? [] : [`the policy has no row for action ${wanted.action}${on} of skill ${skill.skillId}`];
}

function repeated(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))];
}
