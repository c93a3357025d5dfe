/** One claim against what the run bears: evidence, values, phrasing, proof. Each fault has its own reason. INV-03, INV-14. */
import type { Claim, ClaimTemplate, Slot } from '#contracts/claim.ts';
import type { ErrorCode, ErrorRecord } from '#contracts/error.ts';
import { proofFrom } from './absence-proof.ts';
import { anchorType } from './anchor.ts';
import { canonicalText } from './canonical.ts';
import { literalText, renderSentence } from './claim-sentence.ts';
import type { EvidenceIndex } from './evidence-index.ts';
import { failure } from './failure.ts';
import { evaluateFormula, formulaNames } from './formula.ts';
import { freeFacts } from './free-facts.ts';
import { renderSlot } from './render-slot.ts';
import type { RunState } from './run-state.ts';

/** Whose an evidence id is. `ours`: of this run, but of no result that an answer may use. */
export type Lookup = (evidenceId: string) => 'ours' | 'other_tenant' | 'other_task' | 'unknown';

export interface ClaimAgainst {
  readonly state: RunState;
  readonly index: EvidenceIndex;
  /** The evidence that the answer lists. */
  readonly listed: ReadonlySet<string>;
  readonly known: Lookup;
}

/** Every fault of one claim; empty means: bound. */
export function checkClaim(claim: Claim, against: ClaimAgainst): readonly ErrorRecord[] {
  const template = templateOf(claim, against.state);
  return [
    ...checkEvidenceIds(claim, against),
    ...checkSlots(claim, against),
    ...(template === undefined ? checkPhrasing(claim, against.state) : checkDeclared(claim, { template, against })),
    ...checkText(claim),
    ...(claim.kind === 'absence' ? checkProof(claim, against) : []),
    ...checkKind(claim),
  ];
}

function fault(code: ErrorCode, { claimId }: Claim, what: string): ErrorRecord {
  return failure(code, `Claim ${claimId} ${what}.`, { claimId });
}

/** The goal's sentence that the claim repeats word for word, in any of its languages. */
function templateOf({ key, template }: Claim, { goal }: RunState): ClaimTemplate | undefined {
  return goal?.claims.find((own) => own.key === key && Object.values(own.sentence).includes(template));
}

const FOREIGN: Readonly<Record<ReturnType<Lookup>, readonly [ErrorCode, string]>> = {
  ours: ['ERR_CLAIM_UNKNOWN_EVIDENCE', 'which no result of this run bears'],
  other_tenant: ['ERR_CLAIM_FOREIGN_TENANT', 'which is not of this tenant'],
  other_task: ['ERR_CLAIM_FOREIGN_TASK', 'which is of another task'],
  unknown: ['ERR_CLAIM_UNKNOWN_EVIDENCE', 'which nobody knows'],
};

function checkEvidenceIds(claim: Claim, { index, listed, known }: ClaimAgainst): readonly ErrorRecord[] {
  if (claim.evidenceIds.length === 0 && claim.kind !== 'inference')
    return [fault('ERR_CLAIM_NO_EVIDENCE', claim, 'rests on no evidence')];
  const slots = Object.values(claim.slots).flatMap((slot) => ('evidenceId' in slot ? [slot.evidenceId] : []));
  const loose = [...new Set(slots)].filter((id) => !claim.evidenceIds.includes(id));
  return [
    ...claim.evidenceIds.flatMap((id) => {
      if (index.byId.has(id))
        return listed.has(id) ? [] : [fault('ERR_CLAIM_UNKNOWN_EVIDENCE', claim, `names ${id}, which is not listed`)];
      const [code, why] = FOREIGN[known(id)];
      return [fault(code, claim, `names ${id}, ${why}`)];
    }),
    ...loose.map((id) => fault('ERR_CLAIM_UNKNOWN_EVIDENCE', claim, `has a slot in ${id}, which it does not name`)),
  ];
}

/** Each value is rendered again, from the record or by the formula. */
function checkSlots(claim: Claim, { index }: ClaimAgainst): readonly ErrorRecord[] {
  return Object.entries(claim.slots).flatMap(([name, slot]) => {
    const text = 'formula' in slot ? derivedText(slot, claim, index) : observedText(slot, index);
    if (text === slot.value) return [];
    const from = 'formula' in slot ? `its formula ${slot.formula}` : `${slot.pointer} of ${slot.evidenceId}`;
    return [fault('ERR_CLAIM_POINTER', claim, `has in slot ${name} another value than ${from} gives`)];
  });
}

type Observed = Extract<Slot, { readonly evidenceId: unknown }>;
type Derived = Extract<Slot, { readonly formula: unknown }>;

function observedValue({ evidenceId, pointer }: Observed, index: EvidenceIndex): unknown {
  const borne = index.byId.get(evidenceId);
  const found = borne === undefined ? undefined : index.valueAt(borne.evidence, pointer);
  return found?.found === true ? found.value : undefined;
}

function observedText(slot: Observed, index: EvidenceIndex): string | undefined {
  const rendered = renderSlot(slot.format, observedValue(slot, index));
  return rendered.ok ? rendered.text : undefined;
}

/** A formula may only use the slots it names as inputs, and those only what was observed. */
function derivedText(slot: Derived, { slots }: Claim, index: EvidenceIndex): string | undefined {
  const inputs = new Map<string, number>();
  for (const name of slot.inputs) {
    const input = Object.hasOwn(slots, name) ? slots[name] : undefined;
    const value = input === undefined || 'formula' in input ? undefined : observedValue(input, index);
    if (value !== undefined) inputs.set(name, numberOf(value));
  }
  if (inputs.size === 0 || !formulaNames(slot.formula).every((name) => inputs.has(name))) return undefined;
  const rendered = renderSlot(slot.format, evaluateFormula(slot.formula, inputs));
  return rendered.ok ? rendered.text : undefined;
}

/** Amounts count by their figure. */
function numberOf(value: unknown): number {
  const rendered = renderSlot('amount', value);
  return rendered.ok ? Number.parseFloat(rendered.text) : Number.NaN;
}

/** A sentence of the goal is said as the goal declares it: kind, slots, places, and by a step that the plan declares for it. */
function checkDeclared(
  claim: Claim,
  { template, against }: { readonly template: ClaimTemplate; readonly against: ClaimAgainst },
): readonly ErrorRecord[] {
  const errors: ErrorRecord[] = [];
  if (claim.kind !== template.kind)
    errors.push(fault('ERR_CLAIM_FREE_FACT', claim, `is said as ${claim.kind}; the goal declares ${template.kind}`));
  const steps = against.state.accepted?.plan.claims.find(({ key }) => key === template.key)?.stepIds ?? [];
  for (const id of claim.evidenceIds) {
    const borne = against.index.byId.get(id);
    if (template.kind !== 'absence' && borne !== undefined && !steps.includes(borne.stepId ?? ''))
      errors.push(fault('ERR_CLAIM_POINTER', claim, `rests on ${id}, which no step declared for it bears`));
  }
  for (const [name, declared] of Object.entries(template.slots)) {
    const slot = Object.hasOwn(claim.slots, name) ? claim.slots[name] : undefined;
    const observed = slot === undefined || 'formula' in slot ? undefined : slot;
    const anchor = against.index.byId.get(observed?.evidenceId ?? '')?.evidence.anchor;
    const sameKind = anchor === undefined || anchorType(anchor) === declared.anchorType;
    if (observed?.pointer !== declared.pointer || observed.format !== declared.format || !sameKind)
      errors.push(
        fault(
          'ERR_CLAIM_POINTER',
          claim,
          `does not take slot ${name} from ${declared.pointer} of a ${declared.anchorType}`,
        ),
      );
  }
  return errors;
}

/** Somebody else's words: no fact outside slots, but those that the goal's own sentence of this key has. */
function checkPhrasing(claim: Claim, { goal }: RunState): readonly ErrorRecord[] {
  if (claim.kind === 'absence')
    return [fault('ERR_CLAIM_PROOF', claim, 'says an absence in other words than the goal')];
  const own = Object.values(goal?.claims.find(({ key }) => key === claim.key)?.sentence ?? {});
  const allowed = new Set(own.flatMap((sentence) => freeFacts(literalText(sentence))));
  const free = freeFacts(literalText(claim.template)).filter((found) => !allowed.has(found));
  if (free.length === 0) return [];
  return [fault('ERR_CLAIM_FREE_FACT', claim, `has ${free.length} facts outside its slots`)];
}

function checkText(claim: Claim): readonly ErrorRecord[] {
  const values = Object.fromEntries(Object.entries(claim.slots).map(([name, { value }]) => [name, value]));
  if (renderSentence(claim.template, values) === claim.text) return [];
  return [fault('ERR_CLAIM_FREE_FACT', claim, 'has a text that its template and slots do not give')];
}

/** The proof is made again from the records it rests on. */
function checkProof(claim: Claim, { state, index }: ClaimAgainst): readonly ErrorRecord[] {
  const action = state.goal?.claims.find(({ key }) => key === claim.key)?.absentAction;
  const bears = claim.evidenceIds
    .flatMap((id) => index.byId.get(id) ?? [])
    .filter(({ stepId }) => stepId === undefined);
  const read = (type: string, pointer: string): unknown => {
    const borne = bears.find(({ evidence }) => anchorType(evidence.anchor) === type);
    const found = borne === undefined ? undefined : index.valueAt(borne.evidence, pointer);
    return found?.found === true ? found.value : undefined;
  };
  const again = action === undefined ? undefined : proofFrom(action, read);
  const frozen = state.goal?.prohibitedActions.includes(action ?? '') === true;
  const bare = Object.keys(claim.slots).length === 0;
  if (bare && frozen && again?.holds === true && canonicalText(again) === canonicalText(claim.proof)) return [];
  return [fault('ERR_CLAIM_PROOF', claim, `does not show that ${action ?? 'its action'} did not happen`)];
}

function checkKind(claim: Claim): readonly ErrorRecord[] {
  const derived = Object.values(claim.slots).some((slot) => 'formula' in slot);
  if (claim.kind === 'inference' && claim.uncertainty === undefined)
    return [fault('ERR_CLAIM_NO_EVIDENCE', claim, 'infers and does not say how uncertain it is')];
  if (claim.kind !== 'inference' && derived)
    return [fault('ERR_CLAIM_FREE_FACT', claim, `derives a value and is said as ${claim.kind}`)];
  return [];
}
