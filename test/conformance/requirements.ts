/**
 * What the design requires, by id. A test cites an id in its name or in a comment; an id that no test cites fails the build unless it is
 * pending, with the part of the plan that brings it.
 */
import { finding } from '#contracts/plan.ts';

export interface Requirement {
  readonly id: string;
  readonly sentence: string;
  /** The part that brings it; absent: it must be cited now. */
  readonly pending?: number;
}

const INVARIANTS: readonly Requirement[] = [
  { id: 'INV-01', sentence: 'A completed step has a contract-conforming result, and "nothing found" is no_data.' },
  { id: 'INV-02', sentence: 'Nothing starts before its dependencies are satisfied.' },
  { id: 'INV-03', sentence: 'Each claim is bound to evidence or marked inference.' },
  {
    id: 'INV-04',
    sentence: 'Each effect leads to authorisation, approval record, expected version, idempotency key.',
  },
  { id: 'INV-05', sentence: 'At most one accepted result per step and plan version.' },
  { id: 'INV-06', sentence: 'A budget is never negative.' },
  { id: 'INV-07', sentence: 'No dispatch after cancellation was requested.' },
  { id: 'INV-08', sentence: 'A stale or late result changes nothing but its own record.' },
  { id: 'INV-09', sentence: 'Each field has one writer.' },
  { id: 'INV-10', sentence: 'A child lease is inside its parent in every dimension.' },
  { id: 'INV-11', sentence: 'The hash chain holds.' },
  { id: 'INV-12', sentence: 'At most one effect per idempotency key at the resource.' },
  { id: 'INV-13', sentence: 'An approval is spent at most once.' },
  { id: 'INV-14', sentence: 'No read or reference crosses a tenant.' },
  { id: 'INV-15', sentence: 'A recovered run re-authorises before its next tool call.', pending: 4 },
  {
    id: 'INV-16',
    sentence: 'An untrusted value never fills an action, resource, recipient, URL or approval slot.',
    pending: 5,
  },
];

/** LAB cases by number; each is cited as `LAB-n`. */
const LAB_NOW = [
  1, 2, 3, 4, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 36, 37, 39,
];
const LAB_SCOPE = [41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63];
const LAB: readonly Requirement[] = [...LAB_NOW, ...LAB_SCOPE].map((number) => ({
  id: `LAB-${number}`,
  sentence: `Case ${number} of the authority lab has its outcome, and from the guard that is named for it.`,
}));

const FINDINGS: readonly Requirement[] = finding.shape.code.options.map((code) => ({
  id: code,
  sentence: `The plan validator finds ${code} where it stands, and says what was expected and what came.`,
}));

export const REQUIREMENTS: readonly Requirement[] = [...INVARIANTS, ...LAB, ...FINDINGS];
