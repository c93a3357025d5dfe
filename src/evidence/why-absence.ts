/** The links behind "it did not happen": the frozen prohibition, every lease of the run, and the effect ledger, counted again now. DESIGN §3.9. */
import type { Claim } from '#contracts/claim.ts';
import type { WhyLink } from '#contracts/run-view.ts';
import type { RunRecord } from './run-record.ts';
import { broken, link } from './why-link.ts';

export function absenceLinks(record: RunRecord, claim: Claim, first: WhyLink): readonly WhyLink[] {
  const { proof } = claim;
  if (proof === undefined || !proof.holds)
    return [first, broken('prohibition', claim.key, { why: 'The claim carries no proof that holds.' })];
  return [
    first,
    prohibitionLink(record, proof.action),
    registryLink(record, proof.action),
    ledgerLink(record, proof.action),
  ];
}

function prohibitionLink(record: RunRecord, action: string): WhyLink {
  const frozen = record.events.find(
    (event) => event.kind === 'goal.frozen' && event.body.goal.prohibitedActions.includes(action),
  );
  if (frozen === undefined) return broken('prohibition', action, { why: 'The frozen goal does not prohibit it.' });
  return link('prohibition', action, {
    note: `frozen at ${frozen.at}`,
    verdict: 'Bound',
    detail: { event: String(frozen.seq), goalDigest: record.state.goalDigest, hash: frozen.hash },
  });
}

function registryLink(record: RunRecord, action: string): WhyLink {
  const rows = [...record.leases.values()];
  const permitting = rows.filter(({ actions }) => actions.includes(action));
  const detail = { examined: String(rows.length), permitting: String(permitting.length) };
  const [first] = permitting;
  if (first !== undefined)
    return broken('lease_registry', first.leaseId, { why: `Lease ${first.leaseId} permits ${action}.`, detail });
  return link('lease_registry', record.ref.runId, {
    note: `${rows.length} leases, none for ${action}`,
    verdict: 'Known',
    detail,
  });
}

function ledgerLink(record: RunRecord, action: string): WhyLink {
  if (record.ledgerFault !== undefined)
    return broken('effect_ledger', record.ref.runId, {
      why: `The effect ledger cannot be read: ${record.ledgerFault}`,
    });
  const rows = record.effects.filter((row) => row.action === action);
  const detail = { rows: String(rows.length) };
  const [first] = rows;
  if (first !== undefined)
    return broken('effect_ledger', first.effectId, {
      why: `The effect ledger has ${first.effectId}, ${first.state}.`,
      detail,
    });
  return link('effect_ledger', record.ref.runId, { note: `no row for ${action}`, verdict: 'Known', detail });
}
