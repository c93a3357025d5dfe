import { defineTool } from 'caseops';
import { z } from 'zod';

const purposes = ['release_promotion'];

export const releaseRecord = z.strictObject({
  release_id: z.string(),
  /** `3`; the version that a promotion is asked for. */
  release_version: z.string(),
  request_id: z.string(),
  baseline: z.string(),
});
export const aliasRecord = z.strictObject({ alias: z.string(), ...releaseRecord.shape });
export const assessmentRecord = z.strictObject({
  request_id: z.string(),
  release_id: z.string(),
  traffic_percent: z.string(),
  requires_approval: z.boolean(),
  summary: z.string(),
  evidence: z.array(z.string()),
});

/** The release as the release store has it now. */
export const getRelease = defineTool({
  server: 'release-store',
  name: 'releases.get',
  version: '1.0.0',
  description: 'Reads a release by its id.',
  input: z.strictObject({ release_name: z.string() }),
  record: releaseRecord,
  resource: { type: 'release', argument: 'release_name' },
  source: 'release-store',
  anchorType: 'release',
  actions: ['releases:read'],
  purposes,
});

/** The release that a name stands for which is no release id. */
export const findAlias = defineTool({
  server: 'release-store',
  name: 'releases.find_alias',
  version: '1.0.0',
  description: 'Looks up the release that an alias stands for.',
  input: z.strictObject({ release_name: z.string() }),
  record: aliasRecord,
  resource: { type: 'release', argument: 'release_name' },
  source: 'release-store',
  anchorType: 'release-alias',
  actions: ['releases:read'],
  purposes,
});

/** Writes down what the merged findings say. It composes a record and changes nothing. */
export const composeAssessment = defineTool({
  server: 'release-store',
  name: 'releases.compose_assessment',
  version: '1.0.0',
  description: 'Composes the assessment of a promotion from its findings; changes nothing.',
  input: z.strictObject({
    release_id: z.string(),
    request_id: z.string(),
    traffic_percent: z.string(),
    eval_finding: z.string(),
    health_finding: z.string(),
    policy_finding: z.string(),
  }),
  record: assessmentRecord,
  resource: { type: 'release', argument: 'release_id' },
  source: 'release-store',
  anchorType: 'promotion-assessment',
  risk: 'draft',
  actions: ['releases:assess'],
  purposes,
});
