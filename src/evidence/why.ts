/**
 * Why a sentence of the answer holds: claim → evidence → record version → tool call → worker → A2A task → lease, each link verified again
 * against what the store has now, not against what the run said of itself. Source: DESIGN §5; INV-03, INV-10, INV-11.
 */
import type { Answer } from '#contracts/answer.ts';
import type { Claim, SlotFormat } from '#contracts/claim.ts';
import type { RunRef } from '#contracts/command.ts';
import type { Tombstone } from '#contracts/erasure.ts';
import { CaseOpsError } from '#contracts/error.ts';
import { anchorAtVersion, type Evidence } from '#contracts/evidence.ts';
import type { StepId } from '#contracts/ids.ts';
import type { WhyLink, WhyView } from '#contracts/run-view.ts';
import { renderSentence } from '#kernel/claim-sentence.ts';
import { resolvePointer } from '#kernel/pointer.ts';
import { renderSlot } from '#kernel/render-slot.ts';
import { digestOf } from '#kernel/digest.ts';
import type { Store } from '#ports/store.ts';
import { absenceLinks } from './why-absence.ts';
import { earlierLink } from './why-earlier.ts';
import { effectLinks } from './why-effect.ts';
import { broken, link } from './why-link.ts';
import { erasedRun, readRunRecord, type RunRecord } from './run-record.ts';
import { erasedClaims, erasedLink } from './why-erased.ts';
import { stepLinks } from './why-step.ts';

/**
 * The chain behind the claim with this id or key, or behind each. Throws ERR_NOT_FOUND when the run, its answer or the claim does not exist.
 * A link that does not hold is a verdict, never an exception.
 */
export async function explainClaims(
  store: Store,
  asked: { readonly ref: RunRef; readonly claim: string | undefined },
): Promise<readonly WhyView[]> {
  const record = await readRunRecord(store, asked.ref);
  if (record === undefined) {
    const tombstone = await erasedRun(store, asked.ref);
    const gone = tombstone === undefined ? [] : erasedClaims(asked.ref.runId, tombstone, asked.claim);
    if (gone.length > 0) return gone;
  }
  const answer = record?.state.answer;
  if (record === undefined || answer === undefined)
    throw new CaseOpsError('ERR_NOT_FOUND', `Run ${asked.ref.runId} has no answer to explain.`, { at: 'evidence' });
  const claims = answer.claims.filter(
    ({ claimId, key }) => asked.claim === undefined || claimId === asked.claim || key === asked.claim,
  );
  if (claims.length === 0 && asked.claim !== undefined)
    throw new CaseOpsError('ERR_NOT_FOUND', `Run ${asked.ref.runId} says no claim ${asked.claim.slice(0, 128)}.`, {
      at: 'evidence',
    });
  return claims.map((claim) => explain(record, answer, claim));
}

function explain(record: RunRecord, answer: Answer, claim: Claim): WhyView {
  const evidence = new Map(answer.evidence.map((item): [string, Evidence] => [item.evidenceId, item]));
  const branches =
    claim.kind === 'absence'
      ? [
          {
            anchor: claim.proof?.action ?? claim.key,
            links: [...absenceLinks(record, claim, claimLink(record, claim))],
          },
        ]
      : claim.evidenceIds.map((evidenceId) => {
          const item = evidence.get(evidenceId);
          return item === undefined
            ? {
                anchor: evidenceId,
                links: [broken('evidence', evidenceId, { why: 'The answer names evidence that it does not hold.' })],
              }
            : { anchor: anchorAtVersion(item), links: [...evidenceLinks(record, claim, item)] };
        });
  const links = branches.flatMap((branch) => branch.links);
  const brokenCount = links.filter(({ verdict }) => verdict === 'Broken').length;
  const erasedCount = links.filter(({ verdict }) => verdict === 'Erased').length;
  return {
    runId: record.ref.runId,
    claimId: claim.claimId,
    key: claim.key,
    text: claim.text,
    holds: brokenCount + erasedCount === 0 && links.length > 0,
    linkCount: links.length,
    brokenCount,
    erasedCount,
    branches,
  };
}

function claimLink(record: RunRecord, claim: Claim): WhyLink {
  const detail = { kind: claim.kind, template: claim.template, chainHead: record.state.hash };
  if (record.chainFault !== undefined)
    return broken('claim', claim.claimId, { why: `The run's log does not verify: ${record.chainFault}.`, detail });
  const unbound = claim.kind !== 'absence' && claim.evidenceIds.length === 0;
  if (unbound) return broken('claim', claim.claimId, { why: 'It rests on no evidence.', detail });
  const values = Object.entries(claim.slots).map(([name, slot]) => [name, slot.value] as const);
  if (renderSentence(claim.template, Object.fromEntries(values)) !== claim.text)
    return broken('claim', claim.claimId, {
      why: 'Its text is not its sentence with the values of its slots.',
      detail,
    });
  return link('claim', claim.claimId, { note: claim.text, verdict: 'Bound', detail });
}

function evidenceLinks(record: RunRecord, claim: Claim, item: Evidence): readonly WhyLink[] {
  const step = bearer(record, item);
  const ref = anchorAtVersion(item);
  const detail = {
    evidenceId: item.evidenceId,
    source: item.source,
    version: item.version,
    observedAt: item.observedAt,
    trust: item.trust,
    digest: item.digest,
  };
  const gone = step === undefined ? tombstoneFor(record, item) : undefined;
  if (gone !== undefined) return [claimLink(record, claim), erasedLink('evidence', ref, gone)];
  if (step === undefined)
    return [
      claimLink(record, claim),
      broken('evidence', ref, { why: 'No accepted artifact that reads back holds it.', detail }),
    ];
  return [
    claimLink(record, claim),
    link('evidence', ref, { note: `observed in ${item.source} at ${item.observedAt}`, verdict: 'Known', detail }),
    recordLink(record, claim, { item, stepId: step }),
    ...originLinks(record, { item, stepId: step }),
  ];
}

function originLinks(record: RunRecord, of: { readonly item: Evidence; readonly stepId: StepId }): readonly WhyLink[] {
  const { origin } = record.state.steps.get(of.stepId) ?? {};
  if (origin !== undefined) {
    const earlier = record.earlier.get(origin.runId);
    const first = earlierLink(record, origin, earlier);
    return earlier === undefined ? [first] : [first, ...stepLinks(earlier, { ...of, stepId: origin.stepId })];
  }
  const proof = record.effectProofs.get(of.stepId);
  return proof === undefined ? stepLinks(record, of) : effectLinks(record, { stepId: of.stepId, proof });
}

/** The tombstone that took the artifact of this evidence: of this run, or of the one that it was taken over from. */
function tombstoneFor(record: RunRecord, item: Evidence): Tombstone | undefined {
  for (const { result, origin } of record.state.steps.values()) {
    const ref = result?.artifactRef;
    if (ref === undefined || !result?.evidence.some(({ evidenceId }) => evidenceId === item.evidenceId)) continue;
    const owner = origin === undefined ? record : record.earlier.get(origin.runId);
    const whole = origin === undefined ? undefined : record.erased.get(origin.runId);
    return whole ?? owner?.state.erasures.find(({ artifacts }) => artifacts.includes(ref));
  }
  return undefined;
}

/** The step whose accepted artifact or effect, as stored now, holds exactly this evidence. */
function bearer(record: RunRecord, item: Evidence): StepId | undefined {
  for (const [stepId, artifact] of record.artifacts)
    if (artifact.evidence.some((other) => other.evidenceId === item.evidenceId && digestOf(other) === digestOf(item)))
      return stepId;
  for (const [stepId, proof] of record.effectProofs)
    if (digestOf(proof.record.evidence) === digestOf(item)) return stepId;
  return undefined;
}

function observedIn(record: RunRecord, stepId: StepId, evidenceId: string): unknown {
  const proof = record.effectProofs.get(stepId);
  if (proof !== undefined) return proof.record.record;
  const records = record.artifacts.get(stepId)?.records ?? {};
  return Object.hasOwn(records, evidenceId) ? records[evidenceId] : undefined;
}

/** The observed record hashes to the evidence's digest, and every pointer of the claim into it gives the value that was said. */
function recordLink(
  record: RunRecord,
  claim: Claim,
  of: { readonly item: Evidence; readonly stepId: StepId },
): WhyLink {
  const { evidenceId, digest } = of.item;
  const observed = observedIn(record, of.stepId, evidenceId);
  const ref = anchorAtVersion(of.item);
  if (observed === undefined)
    return broken('record', ref, { why: 'The artifact holds no record for it.', detail: { digest } });
  const actual = digestOf(observed);
  if (actual !== digest) return broken('record', ref, { why: `The record hashes to ${actual}.`, detail: { digest } });
  const pointers = Object.entries(claim.slots).flatMap(([name, slot]) =>
    'evidenceId' in slot && slot.evidenceId === evidenceId
      ? [{ name, pointer: slot.pointer, format: slot.format, value: slot.value }]
      : [],
  );
  const lost = pointers.find(({ pointer, format, value }) => !says(observed, { pointer, format, value }));
  if (lost !== undefined)
    return broken('record', ref, {
      why: `${lost.pointer} of the record does not say ${lost.name}.`,
      detail: { digest },
    });
  const detail = Object.fromEntries(
    pointers.map(({ name, pointer, value }) => [name, `${pointer} = ${value.slice(0, 500)}`]),
  );
  return link('record', ref, {
    note: pointers.map(({ pointer }) => pointer).join(', ') || 'whole record',
    verdict: 'Resolves',
    detail: { ...detail, digest },
  });
}

/** The value at the pointer, written by the same code as the answer's, is what the answer says. */
function says(
  observed: unknown,
  slot: { readonly pointer: string; readonly format: SlotFormat; readonly value: string },
): boolean {
  const resolved = resolvePointer(observed, slot.pointer);
  const rendered = resolved.found ? renderSlot(slot.format, resolved.value) : undefined;
  return rendered?.ok === true && rendered.text === slot.value;
}
