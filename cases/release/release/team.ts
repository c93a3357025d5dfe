/** The release team: knows the releases, joins the findings of a check, and publishes what promoting means. It promotes nothing. */
import {
  CaseOpsError,
  defineSkill,
  defineTeam,
  defineWorker,
  mcpServer,
  serveTool,
  SUPERVISOR_WORKLOAD,
  type TeamContext,
  type TeamDefinition,
} from 'caseops';
import { join } from 'node:path';
import { z } from 'zod';
import { openRecords } from '../../records.ts';
import { readFinding } from '../finding.ts';
import { type FindingRefusal, mergeFindings } from '../merge-findings.ts';
import { ALIAS_RECORDS, RELEASE_RECORDS } from './seed.ts';
import { aliasRecord, assessmentRecord, composeAssessment, findAlias, getRelease, releaseRecord } from './tools.ts';

const purposes = ['release_promotion'];

const resolveRelease = defineSkill({
  id: 'resolve-release',
  version: '1.0.0',
  description: 'Finds the release that is meant, its version, and the request it is to be promoted under.',
  input: z.strictObject({ release_name: z.string() }),
  artifact: releaseRecord,
  requires: [{ name: 'release_name', kind: 'release_name' }],
  produces: [
    { kind: 'release_id', pointer: '/release_id' },
    { kind: 'release_version', pointer: '/release_version' },
    { kind: 'promotion_request', pointer: '/request_id' },
    { kind: 'release_baseline', pointer: '/baseline' },
  ],
  risk: 'read_only',
  actions: ['releases:read'],
  resources: [{ type: 'release', input: 'release_name' }],
  datatypes: ['internal'],
  purposes,
  tools: [getRelease, findAlias],
  evidence: { anchorTypes: ['release', 'release-alias'], countMin: 1 },
  stateFields: ['release_version'],
  budget: { toolCallCountMax: 2 },
});

/** One look-up by id, one by alias, and then it asks: looking again would find the same. */
const resolveWorker = defineWorker(resolveRelease, {
  name: 'resolve-release-worker',
  async run({ release_name }, context) {
    const [named] = await context.call(getRelease, { release_name });
    if (named !== undefined) return { status: 'completed', data: named.record, evidence: [named.evidence] };
    const [alias] = await context.call(findAlias, { release_name });
    if (alias === undefined)
      return {
        status: 'blocked',
        question: `There is no release ${release_name}, and no alias of that name. Which release is meant, such as reranker-v17?`,
        wants: 'release_name',
      };
    const { alias: _, ...release } = alias.record;
    return { status: 'completed', data: release, evidence: [alias.evidence] };
  },
});

const assessPromotion = defineSkill({
  id: 'assess-promotion',
  version: '1.0.0',
  description: 'Joins the findings of a release check and says whether the promotion can be proposed. Changes nothing.',
  input: z.strictObject({
    release_id: z.string(),
    request_id: z.string(),
    traffic_percent: z.string(),
    eval_finding: z.string(),
    health_finding: z.string(),
    policy_finding: z.string(),
  }),
  artifact: assessmentRecord,
  requires: [
    { name: 'release_id', kind: 'release_id' },
    { name: 'request_id', kind: 'promotion_request' },
    { name: 'traffic_percent', kind: 'traffic_percent' },
    { name: 'eval_finding', kind: 'eval_finding' },
    { name: 'health_finding', kind: 'health_finding' },
    { name: 'policy_finding', kind: 'policy_finding' },
  ],
  produces: [{ kind: 'promotion_assessment', pointer: '/summary' }],
  risk: 'draft',
  actions: ['releases:assess'],
  resources: [{ type: 'release', input: 'release_id' }],
  datatypes: ['internal'],
  purposes,
  tools: [composeAssessment],
  evidence: { anchorTypes: ['promotion-assessment'], countMin: 1 },
});

const assessWorker = defineWorker(assessPromotion, {
  name: 'assess-promotion-worker',
  async run(input, context) {
    const { release_id, request_id } = input;
    const merged = mergeFindings(findingsIn(input), {
      tenant: context.tenant,
      requestId: request_id,
      releaseId: release_id,
    });
    if (!merged.ok) throw refusal(release_id, merged.refusals);
    const [assessment] = await context.call(composeAssessment, input);
    if (assessment === undefined) return { status: 'no_data', evidence: [], missing: ['the assessment'] };
    return { status: 'completed', data: assessment.record, evidence: [assessment.evidence] };
  },
});

interface AssessedInput {
  readonly release_id: string;
  readonly request_id: string;
  readonly traffic_percent: string;
  readonly eval_finding: string;
  readonly health_finding: string;
  readonly policy_finding: string;
}

function findingsIn({ eval_finding, health_finding, policy_finding }: AssessedInput): readonly unknown[] {
  return [eval_finding, health_finding, policy_finding].map(readFinding);
}

function refusal(releaseId: string, refusals: readonly FindingRefusal[]): CaseOpsError {
  const why = refusals.map(({ message }) => message).join(' ');
  return new CaseOpsError('ERR_FINDINGS', `${releaseId} cannot be proposed for promotion: ${why}`.slice(0, 2_000), {
    at: 'assess-promotion',
    detail: { refusals: refusals.map(({ kind, branch }) => `${branch}: ${kind}`) },
  });
}

/** Applied by the one writer in a flag file; no worker of any team can. */
const promoteRelease = defineSkill({
  id: 'promote-release',
  version: '1.0.0',
  description: 'Gives a release an approved share of the traffic.',
  input: z.strictObject({
    release_id: z.string(),
    release_version: z.string(),
    traffic_percent: z.string(),
    /** What the findings say: shown to the approver, not applied. */
    note: z.string(),
  }),
  artifact: z.strictObject({
    promotion_id: z.string(),
    release_id: z.string(),
    traffic_percent: z.number(),
    version: z.string(),
  }),
  requires: [
    { name: 'release_id', kind: 'release_id' },
    { name: 'release_version', kind: 'release_version' },
    { name: 'traffic_percent', kind: 'traffic_percent' },
    { name: 'note', kind: 'promotion_assessment' },
  ],
  produces: [{ kind: 'promotion', pointer: '/promotion_id' }],
  risk: 'effect',
  actions: ['releases:promote'],
  effectActions: ['releases:promote'],
  resources: [{ type: 'release', input: 'release_id' }],
  datatypes: ['internal'],
  purposes,
  tools: [],
  evidence: { anchorTypes: ['release-promotion'], countMin: 1 },
  approval: 'person',
  timeoutMs: 10_000,
});

const storedAlias = aliasRecord.pick({ alias: true, release_id: true });

export function team({ directory, now }: TeamContext): TeamDefinition {
  const place = (name: string): string => join(directory, name);
  const releases = openRecords({ directory: place('releases'), seed: RELEASE_RECORDS, record: releaseRecord, now });
  const aliases = openRecords({ directory: place('aliases'), seed: ALIAS_RECORDS, record: storedAlias, now });
  return defineTeam('release', {
    version: '1.0.0',
    description: 'Knows releases, and joins what a release check found.',
    workers: [resolveWorker, assessWorker],
    contractsOnly: [promoteRelease],
    mcpServers: [
      mcpServer('release-store', {
        version: '1.0.0',
        tools: [
          serveTool(getRelease, ({ release_name }, { tenant }) => releases.find(tenant, release_name)),
          serveTool(findAlias, ({ release_name: alias }, { tenant }) =>
            aliases
              .find(tenant, alias)
              .flatMap((found) =>
                releases
                  .find(tenant, found.data.release_id)
                  .map((release) => ({ ...found, data: { alias, ...release.data } })),
              ),
          ),
          serveTool(composeAssessment, (input, { tenant }) => {
            const data = assessmentOf(input, tenant);
            const { request_id: id, traffic_percent } = input;
            return data === undefined ? [] : [{ id, version: `p${traffic_percent}`, tenant, observedAt: now(), data }];
          }),
        ],
      }),
    ],
    policy: ['releases:read', 'releases:assess'].map((action) => ({
      actor: SUPERVISOR_WORKLOAD,
      action,
      resourceType: 'release',
      purpose: 'release_promotion',
      tenants: ['tenant-7', 'tenant-8'],
    })),
  });
}

/** Undefined when the findings are not the exact set: the record of an assessment exists for no other. */
function assessmentOf(input: AssessedInput, tenant: string): z.infer<typeof assessmentRecord> | undefined {
  const { release_id, request_id, traffic_percent } = input;
  const merged = mergeFindings(findingsIn(input), { tenant, requestId: request_id, releaseId: release_id });
  if (!merged.ok) return undefined;
  return {
    release_id,
    request_id,
    traffic_percent,
    requires_approval: merged.requiresApproval,
    summary: Object.values(merged.findings)
      .map(({ branch, reason }) => `${branch}: ${reason}`)
      .join(' '),
    evidence: [...merged.evidence],
  };
}
