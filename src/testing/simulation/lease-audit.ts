/** Leases, watched where they are handed out and used: INV-10, INV-14, INV-15. Reads tokens itself; the guards and the issuer are not asked. */
import type { LeaseClaims } from '#contracts/lease.ts';
import type { Report } from './violation.ts';

/** A lease that an exchange gave out, against the one it was exchanged for. */
export function auditChild(childToken: string, parentToken: string, report: Report): void {
  const [child, parent] = [claimsOf(childToken), claimsOf(parentToken)];
  if (child === undefined || parent === undefined)
    return report('INV-10', 'An exchange gave out something unreadable.');
  const wider = (what: string): void => report('INV-10', `Lease ${child.jti} is wider than ${parent.jti}: ${what}.`);
  const [one, of] = [child.authorization_details[0], parent.authorization_details[0]];
  if (one === undefined || of === undefined) return wider('no detail');
  for (const field of ['actions', 'resources', 'datatypes'] as const)
    if (one[field].some((value) => !of[field].includes(value))) wider(field);
  if (!of.locations.includes(child.aud)) wider('audience');
  if (one.purpose !== of.purpose) wider('purpose');
  for (const [name, bound] of Object.entries(one.bounds))
    if (JSON.stringify(of.bounds[name]) !== JSON.stringify(bound) && !inside(bound, of.bounds[name]))
      wider(`bound ${name}`);
  if (child.exp > parent.exp || child.nbf < parent.nbf) wider('time');
  if (child.tenant !== parent.tenant || child.sub !== parent.sub) wider('person');
  if (child.task.run !== parent.task.run || child.task.step !== parent.task.step) wider('task');
  if (child.dlg.depth !== parent.dlg.depth + 1 || child.dlg.depth > parent.dlg.max) wider('depth');
  if (JSON.stringify(child.act.act) !== JSON.stringify(parent.act)) wider('actor chain');
  if (usesOf(child) > usesOf(parent)) wider('uses');
}

type Bounded = LeaseClaims['authorization_details'][number]['bounds'][string];

/** A value out of a set is inside the set. */
function inside(bound: Bounded, of: Bounded | undefined): boolean {
  if (of === undefined) return false;
  const allowed = 'subset' in of ? of.subset : 'one_of' in of ? of.one_of : 'exact' in of ? [of.exact] : [];
  const wanted =
    'subset' in bound
      ? bound.subset
      : 'one_of' in bound
        ? bound.one_of
        : 'exact' in bound
          ? [bound.exact]
          : [undefined];
  return wanted.every((value) => value !== undefined && allowed.includes(value));
}

function usesOf({ use }: LeaseClaims): number {
  return use.startsWith('count:') ? Number(use.slice('count:'.length)) : 1;
}

/** The claims of a token as anybody can read them. */
function claimsOf(token: string): LeaseClaims | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as LeaseClaims;
  } catch {
    return undefined;
  }
}
