/**
 * Puts tools that a program has already, of LangGraph, the AI SDK or Mastra, under lease, budget and evidence, without a plan. Each
 * call gets a lease of its own, is checked, debited, bounded in time, and leaves evidence in a hash-chained log.
 * Source: docs/decisions/0010; DESIGN §1 "keep what they already have".
 */
import { createDevelopmentIssuer } from '#authority/development-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunEvent } from '#contracts/event.ts';
import { anchorAtVersion } from '#contracts/evidence.ts';
import { name, action } from '#contracts/ids.ts';
import { rootGrant, type RootGrant } from '#contracts/lease.ts';
import type { Clock } from '#ports/clock.ts';
import type { Ids } from '#ports/ids.ts';
import type { Store } from '#ports/store.ts';
import { openSqliteStore } from '#stores/sqlite/sqlite-store.ts';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { governTool } from './governed/govern-tool.ts';
import type { CitedEvidence, DevelopmentGrant, Governed, GovernedOptions } from './governed/governed-options.ts';
import { openSession, type SessionOptions } from './governed/session.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { TRUST_DOMAIN } from './workloads.ts';

const WORKLOAD = `spiffe://${TRUST_DOMAIN}/governed`;

/**
 * A governed session: one run, opened on its first call. Dispose it, or its run stays open. Throws ERR_CONFIG when the options are not
 * well formed, ERR_UNAUTHENTICATED for a development identity that does not exist, ERR_STORE when the directory can hold no store.
 */
export function createGoverned(options: GovernedOptions): Governed {
  const given = sessionOptions(options);
  const owned = options.store === undefined ? ownStore(options.directory, given.clock) : undefined;
  const store = options.store ?? owned;
  if (store === undefined) throw config('a store could not be opened');
  const session = openSession({ ...given, store });
  // A store of our own is gone after closing; what it held can still be looked at.
  let log: readonly RunEvent[] | undefined;
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    try {
      await session.close();
      log = await session.events();
    } finally {
      await owned?.[Symbol.asyncDispose]();
    }
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  return {
    runId: session.ref.runId,
    tool: (tool, described) => governTool(session, tool, described),
    evidence: () => session.observed().map((item): CitedEvidence => ({ ...item, ref: anchorAtVersion(item) })),
    trace: () => (log === undefined ? session.events() : Promise.resolve(log)),
    close: closeOnce,
    [Symbol.asyncDispose]: closeOnce,
  };
}

const wellFormed = z.object({
  purpose: name,
  budget: z.object({ toolCallCountMax: z.int().min(0).max(1_000_000_000) }),
  prohibitedActions: z.array(action).max(256),
  workload: z.string().min(1).max(256),
});

function sessionOptions(options: GovernedOptions): Omit<SessionOptions, 'store'> {
  const { clock = systemClock, ids = systemIds, purpose, budget, policy } = options;
  const { workload = WORKLOAD, prohibitedActions = [] } = options;
  const checked = wellFormed.safeParse({ purpose, budget, prohibitedActions, workload });
  if (!checked.success) throw config(z.prettifyError(checked.error));
  if (options.store !== undefined && options.directory !== undefined)
    throw config('a store and a directory exclude each other');
  const grant = grantOf(options.grant, { workload, purpose, clock, ids });
  if (!grant.purposes.includes(purpose)) throw config(`${grant.sub} may not act for ${purpose}`);
  const { toolCallCountMax } = budget;
  return { clock, ids, grant, workload, purpose, toolCallCountMax, prohibitedActions, policy };
}

interface GrantFacts {
  readonly workload: string;
  readonly purpose: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

function grantOf(grant: RootGrant | DevelopmentGrant, { workload, purpose, clock, ids }: GrantFacts): RootGrant {
  if (!('as' in grant)) {
    const checked = rootGrant.safeParse(grant);
    if (checked.success) return checked.data;
    throw config(`the grant is not well formed: ${z.prettifyError(checked.error)}`);
  }
  const people = createDevelopmentIssuer({
    issuer: 'urn:caseops:issuer:development',
    audience: workload,
    signer: generateSigner(),
    clock,
    ids,
    supervisor: workload,
    purposes: [purpose],
    actions: grant.actions,
  });
  return people.grantFor(grant.as);
}

function ownStore(directory: string | undefined, clock: Clock): Store {
  if (directory === undefined) return openSqliteStore({ path: ':memory:', clock });
  mkdirSync(directory, { recursive: true });
  return openSqliteStore({ path: join(directory, 'governed.db'), clock });
}

function config(what: string): CaseOpsError {
  return new CaseOpsError('ERR_CONFIG', `createGoverned: ${what}.`.slice(0, 2_000), { at: 'runtime' });
}
