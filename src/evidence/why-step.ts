/** The links from a piece of evidence back to who observed it under which authority: tool call, worker, task, step, leases. INV-10. */
import type { Artifact } from '#contracts/artifact.ts';
import type { Evidence, ToolCall } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import type { LeaseRow } from '#contracts/lease.ts';
import type { WhyLink } from '#contracts/run-view.ts';
import type { AttemptState, StepState } from '#kernel/run-state.ts';
import type { RunRecord } from './run-record.ts';
import { broken, link } from './why-link.ts';

/** In the order of the chain: tool call, worker, task, step, the tool's lease, the step's lease, approval. */
export function stepLinks(
  record: RunRecord,
  of: { readonly item: Evidence; readonly stepId: StepId },
): readonly WhyLink[] {
  const step = record.state.steps.get(of.stepId);
  const artifact = record.artifacts.get(of.stepId);
  const attempt = step?.attempts.find(({ dispatchId }) => dispatchId === artifact?.binding.dispatchId);
  if (step === undefined || artifact === undefined || attempt === undefined)
    return [
      broken('step', of.stepId, { why: 'The run has no such step, or the artifact answers none of its attempts.' }),
    ];
  const call = artifact.toolCalls.find(({ callId }) => callId === of.item.callId);
  return [
    callLink(step, of.item, call),
    workerLink(record, step, artifact),
    taskLink(artifact, attempt),
    stepLink(record, step, artifact),
    ...leaseLinks(record, { step, attempt, call }),
    approvalLink(step),
  ];
}

function callLink(step: StepState, item: Evidence, call: ToolCall | undefined): WhyLink {
  if (item.callId === undefined)
    return link('tool_call', 'none', { note: 'observed without a tool', verdict: 'Not needed' });
  if (call === undefined) return broken('tool_call', item.callId, { why: 'The artifact names no such call.' });
  const ref = `${call.server}/${call.tool}`;
  const detail = {
    callId: call.callId,
    contractVersion: call.contractVersion,
    contractDigest: call.contractDigest,
    protocolRevision: call.protocolRevision,
    serverVersion: call.serverVersion,
    argumentsDigest: call.argumentsDigest,
    resultDigest: call.resultDigest,
    startedAt: call.startedAt,
    endedAt: call.endedAt,
  };
  const pinned = step.skill.toolContracts.find(({ server, tool }) => server === call.server && tool === call.tool);
  if (pinned === undefined || pinned.digest !== call.contractDigest)
    return broken('tool_call', ref, { why: 'It is not the tool contract that the plan pinned.', detail });
  if (call.outcome !== 'ok') return broken('tool_call', ref, { why: `Its outcome was ${call.outcome}.`, detail });
  return link('tool_call', ref, { note: `contract ${call.contractVersion}`, verdict: 'Conforms', detail });
}

function workerLink(record: RunRecord, step: StepState, { producer }: Artifact): WhyLink {
  const { team } = step.definition;
  const card = record.state.accepted?.cards.find((candidate) => candidate.team === team);
  const detail = {
    team: producer.team,
    workload: producer.workload,
    cardVersion: card?.cardVersion,
    verifiedBy: card?.verifiedBy,
  };
  if (card === undefined || card.workload !== producer.workload || producer.team !== team)
    return broken('worker', producer.worker, { why: 'Its workload is not the one of the planned card.', detail });
  return link('worker', producer.worker, { note: `team ${team}`, verdict: 'Known', detail });
}

function taskLink({ binding }: Artifact, attempt: AttemptState): WhyLink {
  const detail = {
    contextId: binding.contextId,
    dispatchId: binding.dispatchId,
    attempt: String(attempt.attempt),
    startedAt: attempt.startedAt,
  };
  if (attempt.taskId !== binding.taskId)
    return broken('task', binding.taskId, {
      why: `The step was worked on by task ${attempt.taskId ?? 'none'}.`,
      detail,
    });
  return link('task', binding.taskId, { note: `context ${binding.contextId}`, verdict: 'Known', detail });
}

function stepLink(record: RunRecord, step: StepState, artifact: Artifact): WhyLink {
  const { stepId, skillId, skillVersion } = step.definition;
  const accepted = record.events.some(
    (event) => event.kind === 'artifact.accepted' && event.body.contentDigest === artifact.contentDigest,
  );
  const detail = {
    artifactId: artifact.artifactId,
    artifactRef: step.result?.artifactRef,
    contentDigest: artifact.contentDigest,
    status: step.result?.status,
    resultHash: step.result?.resultHash,
  };
  if (!accepted) return broken('step', stepId, { why: 'The log has no acceptance of this artifact.', detail });
  return link('step', stepId, { note: `${skillId} ${skillVersion}`, verdict: 'Accepted', detail });
}

function leaseLinks(
  record: RunRecord,
  of: { readonly step: StepState; readonly attempt: AttemptState; readonly call: ToolCall | undefined },
): readonly WhyLink[] {
  const { step, attempt, call } = of;
  const work = record.leases.get(attempt.leaseId);
  const own = workLeaseLink(record, { step, attempt, row: work });
  if (call === undefined) return [own];
  const child = record.leases.get(call.leaseId);
  const parent = child?.parent === undefined ? undefined : record.leases.get(child.parent);
  if (child === undefined)
    return [
      broken('lease', call.leaseId, { why: 'The lease registry has no row of this run for the tool call.' }),
      own,
    ];
  const outside = parent === undefined ? ['parent'] : widened(child, parent);
  const detail = { ...leaseDetail(child), parent: child.parent };
  if (outside.length > 0)
    return [broken('lease', child.leaseId, { why: `It is outside its parent in ${outside.join(', ')}.`, detail }), own];
  return [link('lease', child.leaseId, { note: leaseNote(child), verdict: 'Inside parent', detail }), own];
}

function workLeaseLink(
  record: RunRecord,
  of: { readonly step: StepState; readonly attempt: AttemptState; readonly row: LeaseRow | undefined },
): WhyLink {
  const { step, attempt, row } = of;
  if (row === undefined)
    return broken('lease', attempt.leaseId, { why: 'The lease registry has no row for this step.' });
  const detail = leaseDetail(row);
  const { stepId, actions } = step.definition;
  const prohibited = record.state.goal?.prohibitedActions ?? [];
  const wrong = [
    ...(row.stepId === stepId && row.attempt === attempt.attempt ? [] : ['step']),
    ...(row.actions.every((action) => actions.includes(action)) ? [] : ['actions']),
    ...(row.actions.some((action) => prohibited.includes(action)) ? ['prohibitions'] : []),
    ...(row.subject === record.state.goal?.requestedBy ? [] : ['subject']),
    ...(row.purpose === record.state.goal?.purpose ? [] : ['purpose']),
  ];
  if (wrong.length > 0)
    return broken('lease', row.leaseId, {
      why: `It is not what the step was planned with: ${wrong.join(', ')}.`,
      detail,
    });
  return link('lease', row.leaseId, { note: leaseNote(row), verdict: 'Known', detail });
}

/** The dimensions in which a child's row is not inside its parent's. */
function widened(child: LeaseRow, parent: LeaseRow): readonly string[] {
  const same = ['tenant', 'runId', 'stepId', 'attempt', 'subject', 'purpose'] as const;
  return [
    ...same.filter((dimension) => child[dimension] !== parent[dimension]),
    ...(child.actions.every((action) => parent.actions.includes(action)) ? [] : ['actions']),
    ...(child.resources.every((resource) => parent.resources.includes(resource)) ? [] : ['resources']),
    ...(child.depth === parent.depth + 1 ? [] : ['depth']),
  ];
}

/** What it allowed, on what, for how long; to whom it was addressed is in the detail. */
function leaseNote(row: LeaseRow): string {
  const { actions, resources, issuedAt, expiresAt, use, actor } = row;
  const holder = actor.split('/').at(-1) ?? actor;
  return `${actions.join(', ')} on ${resources.join(', ')} by ${holder}, ${expiresAt - issuedAt} s, ${use}`;
}

function leaseDetail(row: LeaseRow): Readonly<Record<string, string>> {
  return {
    subject: row.subject,
    actor: row.actor,
    audience: row.audience,
    actions: row.actions.join(', '),
    resources: row.resources.join(', '),
    purpose: row.purpose,
    use: row.use,
    ...(row.revokedAt === undefined ? {} : { revokedAt: String(row.revokedAt) }),
  };
}

/** Reading and drafting need none; a step that needed one and has none is broken. */
function approvalLink(step: StepState): WhyLink {
  const { approval, stepId } = step.definition;
  if (approval === 'none') return link('approval', 'none', { note: 'it reads or drafts only', verdict: 'Not needed' });
  return broken('approval', stepId, {
    why: `The step needs approval by ${approval}, and the run has no record of one.`,
  });
}
