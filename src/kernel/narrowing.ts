/**
 * Narrowing: a child lease is inside its parent in every dimension, by exact strings, and a call is inside its lease. Both are here so
 * that issuer, receiver and resource decide by one rule: inside(child, parent) ∧ inside(call, child) ⇒ inside(call, parent).
 * Source: LEASE "Narrowing", INV-10.
 */
import type { Digest } from '#contracts/ids.ts';
import type { Bound, LeaseClaims, LeaseDetail } from '#contracts/lease.ts';
import { boundIncluded, insideBound } from './bound-inclusion.ts';
import { canonicalText } from './canonical.ts';

/** Where something is wider than it may be. `dimension` is a stable word or path such as `actions` or `bounds.claim_id`. */
export interface Widening {
  readonly dimension: string;
  /** Names the dimension and what was expected; never a value of a call. */
  readonly message: string;
}

/** What a request wants, as its boundary read it; undefined where the boundary has no such thing. */
export interface Call {
  readonly action: string;
  readonly resources: readonly string[];
  readonly purpose: string | undefined;
  readonly datatypes: readonly string[];
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
}

/**
 * All dimensions in which `child` is not inside `parent`; empty means: inside. `parentSigningInputDigest` is the sha-256 of the
 * parent's signing input, which `dlg.par` must repeat. A use is compared with the parent's whole use: what is left of it is the
 * issuer's book-keeping, so a lease whose holder is to exchange it for n calls is minted with `count:n`. A lease for control is
 * never a parent nor a child.
 */
export function checkNarrowing(
  child: LeaseClaims,
  parent: LeaseClaims,
  parentSigningInputDigest: Digest,
): readonly Widening[] {
  return [
    ...checkEqual(child, parent),
    ...checkDetail(child, parent),
    ...checkDelegation(child, parent, parentSigningInputDigest),
    ...checkLifetime(child, parent),
  ];
}

/**
 * Arguments outside their bounds; empty means: inside. Closed world: an argument without a bound is refused. A bound without an
 * argument is not: whether an argument must be there is the tool contract's business.
 */
export function checkBounds(
  bounds: Readonly<Record<string, Bound>>,
  args: Readonly<Record<string, unknown>>,
): readonly Widening[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const bound = ownBound(bounds, name);
    if (bound === undefined) return widening(`bounds.${name}`, `Argument ${name} has no bound in the lease.`);
    return insideBound(bound, value) ? [] : widening(`bounds.${name}`, `Argument ${name} is outside its bound.`);
  });
}

/** Whether a call is inside a lease's detail, for guards; empty means: inside. An empty list permits nothing. */
export function checkCall(detail: LeaseDetail, call: Call): readonly Widening[] {
  const found: Widening[] = [];
  if (!detail.actions.includes(call.action)) found.push(...widening('action', `The lease has no ${call.action}.`));
  for (const resource of outside(call.resources, detail.resources))
    found.push(...widening('resource', `The lease does not name ${resource}.`));
  if (call.purpose !== undefined && call.purpose !== detail.purpose)
    found.push(...widening('purpose', `The lease is for ${detail.purpose}, not for ${call.purpose}.`));
  for (const datatype of outside(call.datatypes, detail.datatypes))
    found.push(...widening('datatype', `The lease does not cover data class ${datatype}.`));
  if (call.arguments !== undefined) found.push(...checkBounds(detail.bounds, call.arguments));
  return found;
}

function checkEqual(child: LeaseClaims, parent: LeaseClaims): Widening[] {
  const pairs: readonly (readonly [dimension: string, child: unknown, parent: unknown])[] = [
    ['sub', child.sub, parent.sub],
    ['tenant', child.tenant, parent.tenant],
    ['txn', child.txn, parent.txn],
    ['task.run', child.task.run, parent.task.run],
    ['task.step', child.task.step, parent.task.step],
    ['task.attempt', child.task.attempt, parent.task.attempt],
    // Before the first send a parent knows no task; from then on it is fixed.
    ['task.task_id', child.task.task_id, parent.task.task_id ?? child.task.task_id],
    ['task.context_id', child.task.context_id, parent.task.context_id ?? child.task.context_id],
    ['plan_digest', child.plan_digest, parent.plan_digest],
    ['policy_digest', child.policy_digest, parent.policy_digest],
    ['state_digest', child.state_digest, parent.state_digest],
    ['approval', canonicalText(child.approval), canonicalText(parent.approval)],
    ['act', canonicalText(child.act.act), canonicalText(parent.act)],
  ];
  return pairs
    .filter(([, inner, outer]) => inner !== outer)
    .flatMap(([dimension]) => widening(dimension, `The child's ${dimension} must be its parent's.`));
}

function checkDetail(child: LeaseClaims, parent: LeaseClaims): Widening[] {
  const [inner] = child.authorization_details;
  const [outer] = parent.authorization_details;
  if (inner === undefined || outer === undefined || child.authorization_details.length > 1)
    return widening('authorization_details', 'Child and parent must have exactly one detail each.');
  const mayDelegate = child.dlg.depth < child.dlg.max;
  return [
    ...(inner.type === outer.type ? [] : widening('type', "The child's detail type must be its parent's.")),
    ...(inner.purpose === outer.purpose ? [] : widening('purpose', "The child's purpose must be its parent's.")),
    ...(outer.locations.includes(child.aud) ? [] : widening('aud', 'The child is addressed outside its parent.')),
    ...checkSubset('actions', inner.actions, outer.actions),
    ...checkSubset('resources', inner.resources, outer.resources),
    ...checkSubset('datatypes', inner.datatypes, outer.datatypes),
    // A child that ends the chain has nobody to address, so it may name no location.
    ...(mayDelegate || inner.locations.length > 0 ? checkSubset('locations', inner.locations, outer.locations) : []),
    ...checkChildBounds(inner.bounds, outer.bounds),
  ];
}

/** A subset by exact strings; empty only where the parent's is. */
function checkSubset(dimension: string, inner: readonly string[], outer: readonly string[]): Widening[] {
  if (inner.length === 0 && outer.length > 0) return widening(dimension, `The child names no ${dimension}.`);
  return outside(inner, outer).flatMap((value) => widening(dimension, `The parent has no ${value} in ${dimension}.`));
}

function checkChildBounds(inner: LeaseDetail['bounds'], outer: LeaseDetail['bounds']): Widening[] {
  const missing = Object.keys(outer).filter((name) => ownBound(inner, name) === undefined);
  return [
    ...missing.flatMap((name) => widening(`bounds.${name}`, `The child drops its parent's bound on ${name}.`)),
    ...Object.entries(inner).flatMap(([name, bound]) => {
      const limit = ownBound(outer, name);
      if (limit === undefined) return widening(`bounds.${name}`, `The parent has no bound on ${name}.`);
      return boundIncluded(bound, limit) ? [] : widening(`bounds.${name}`, `The bound on ${name} is not inside.`);
    }),
  ];
}

function checkDelegation(child: LeaseClaims, parent: LeaseClaims, par: Digest): Widening[] {
  const found: Widening[] = [];
  if (child.dlg.depth !== parent.dlg.depth + 1 || child.dlg.depth > parent.dlg.max)
    found.push(...widening('dlg.depth', `Depth ${child.dlg.depth} is not one below, or beyond ${parent.dlg.max}.`));
  if (child.dlg.max > parent.dlg.max)
    found.push(...widening('dlg.max', 'The child may delegate deeper than its parent.'));
  if (child.dlg.par !== par) found.push(...widening('dlg.par', 'The child does not name this parent.'));
  if (!(useCount(child.use) <= useCount(parent.use)))
    found.push(...widening('use', `Use ${child.use} is not inside ${parent.use}.`));
  return found;
}

function checkLifetime(child: LeaseClaims, parent: LeaseClaims): Widening[] {
  return [
    ...(child.nbf >= parent.nbf ? [] : widening('nbf', 'The child begins before its parent.')),
    ...(child.exp <= parent.exp ? [] : widening('exp', 'The child outlives its parent.')),
  ];
}

/** Number of uses; NaN for control, which compares with nothing. */
function useCount(use: LeaseClaims['use']): number {
  if (use === 'single') return 1;
  return use === 'control' ? Number.NaN : Number(use.slice('count:'.length));
}

function outside(inner: readonly string[], outer: readonly string[]): readonly string[] {
  return inner.filter((value) => !outer.includes(value));
}

/** Own members only: an argument named `constructor` has no bound. */
function ownBound(bounds: Readonly<Record<string, Bound>>, name: string): Bound | undefined {
  return Object.hasOwn(bounds, name) ? bounds[name] : undefined;
}

function widening(dimension: string, message: string): Widening[] {
  return [{ dimension, message }];
}
