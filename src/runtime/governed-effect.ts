/**
 * Puts a tool with an effect, of LangGraph, the AI SDK or Mastra, behind an approval, the one writer and the effect ledger: each call opens
 * a run with one effect step, on the same parts as every run. The same call again, in this process or after it died, has the same effect.
 * Source: docs/decisions/0010; DESIGN §3.10; INV-04, INV-12, INV-13.
 */
import { createDevelopmentIssuer } from '#authority/development-issuer.ts';
import { generateSigner } from '#authority/es256.ts';
import { CaseOpsError } from '#contracts/error.ts';
import type { RunId } from '#contracts/ids.ts';
import { rootGrant, type RootGrant } from '#contracts/lease.ts';
import type { RunView } from '#contracts/run-view.ts';
import { createApprovalPolicy } from '#control/approval-policy.ts';
import { digestOf } from '#kernel/digest.ts';
import { join } from 'node:path';
import { createEffectWorld, type EffectWorld } from './effect-world.ts';
import { checkArguments, resourceOf, type JsonArguments } from './governed/call-arguments.ts';
import { effectToolCase, goalText, type EffectToolFacts } from './governed/effect-tool-case.ts';
import type { Decider, GovernedEffect, GovernedEffectOptions } from './governed/effect-tool-options.ts';
import { createToolTarget, effectKey, type EffectCalls, type RunTool } from './governed/effect-tool-target.ts';
import { openGiven } from './governed/given-arguments.ts';
import { enterTool, type EnteredTool } from './governed/govern-tool.ts';
import type { Invocation } from './governed/governed-call.ts';
import { readSchema, type SchemaReader } from './governed/value-schema.ts';
import { systemClock } from './system-clock.ts';
import { systemIds } from './system-ids.ts';
import { SUPERVISOR_WORKLOAD } from './workloads.ts';

const TIMEOUT_MS = 30_000;
const LIMIT = 200;

/**
 * Opens approvals and ledger, and takes up what an earlier process left there. Dispose it to let go of them. Throws ERR_CONFIG when the
 * tool's shape is not known or an option is not well formed.
 */
export async function governedEffect<T extends object>(
  tool: T,
  options: GovernedEffectOptions,
): Promise<GovernedEffect<T>> {
  const { clock = systemClock, ids = systemIds } = options;
  const entered = enterTool(tool);
  const facts = factsOf(entered, options);
  const people = peopleOf(options);
  const grant = people(options.grant);
  const calls: EffectCalls = {
    given: openGiven(join(options.directory, `effect-${facts.name}-calls`)),
    entered: new Map(),
    returned: new Map(),
  };
  const target = createToolTarget({ facts, options, calls, plainRun: entered.plainRun, clock });
  const { kind, announcement, transport } = effectToolCase(facts);
  const world = createEffectWorld({
    path: join(options.directory, `effect-${facts.name}.db`),
    clock,
    ids,
    kinds: [kind],
    announcements: [announcement],
    transport: () => transport,
    targets: [target],
    grants: (subject, tenant) => (subject === grant.sub && tenant === grant.tenant ? grant : undefined),
    policy: options.policy ?? createApprovalPolicy('governed', []),
    sendTimeoutMs: facts.timeoutMs,
  });
  await world.resume();
  const input = readSchema(entered.foreign.inputSchema, `the input schema of tool ${facts.name}`);
  const caller: Caller = { world, facts, options, grant, calls, input };
  const { desk } = world;
  return {
    tool: entered.govern((invocation) => callEffect(caller, invocation)) as T,
    pending: () => desk.approvals(grant, { state: 'pending', runId: undefined, limit: LIMIT }),
    decide: (by, decision) =>
      desk.decide(people(by), {
        disposition: 'approved',
        reason: null,
        evidenceInView: undefined,
        channel: 'console',
        ...decision,
      }),
    effects: () => desk.effects(grant, { state: undefined, runId: undefined, limit: LIMIT }),
    reconcile: (by, effectId) =>
      desk.reconcile(people(by), { effectId, finding: undefined, reason: null }, new AbortController().signal),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

interface Caller {
  readonly world: EffectWorld;
  readonly facts: EffectToolFacts;
  readonly options: GovernedEffectOptions;
  readonly grant: RootGrant;
  readonly calls: EffectCalls;
  readonly input: SchemaReader;
}

/** The tool's result, or the owner's record of it when another call had the effect. Throws what the effect was refused for. */
async function callEffect(caller: Caller, invocation: Invocation): Promise<unknown> {
  const { world, facts, options, grant, calls } = caller;
  const args = await argumentsOf(caller, invocation.arguments);
  const { id } = resourceOf(facts.name, options.resource, args);
  const key = effectKey(facts, args, options.occasion?.(args) ?? '');
  const callId = `call-${digestOf(key).slice('sha256:'.length, 'sha256:'.length + 32)}`;
  calls.given.keep(callId, args);
  const run: RunTool = async (given, signal) => {
    const returned = await invocation.run(given, signal);
    return { returned, observed: invocation.observed(returned) };
  };
  const isFirst = !calls.entered.has(key) && !calls.returned.has(key);
  if (isFirst) calls.entered.set(key, run);
  try {
    const { view } = await world.desk.submit(grant, {
      text: goalText(facts, id, callId),
      language: 'en',
      sessionId: undefined,
      idempotencyKey: key,
    });
    const ended = await endOf(caller, view.runId, invocation.signal);
    return await resultOf(caller, ended, isFirst ? calls.returned.get(key) : undefined);
  } finally {
    if (isFirst) calls.entered.delete(key);
  }
}

async function argumentsOf({ facts, options, input }: Caller, given: unknown): Promise<JsonArguments> {
  const { keyArgument } = options;
  if (keyArgument === undefined) return checkArguments(facts.name, input, given);
  if (typeof given === 'object' && given !== null && keyArgument in given)
    throw new CaseOpsError('ERR_SCHEMA', `The argument ${keyArgument} of ${facts.name} is given by the ledger only.`, {
      at: 'tool',
    });
  // The tool's schema may ask for the key; what is approved is the call without it.
  const { [keyArgument]: _, ...args } = await checkArguments(facts.name, input, {
    ...(given as object),
    [keyArgument]: 'key',
  });
  return args;
}

/** Waits until the run is over, through its waits for people. */
async function endOf(
  { world, grant, options, facts }: Caller,
  runId: RunId,
  signal: AbortSignal | undefined,
): Promise<RunView> {
  const { clock = systemClock, waitMs } = options;
  const late = new AbortController();
  const disarm =
    waitMs === undefined
      ? (): void => undefined
      : clock.at(clock.nowMs() + waitMs, () => late.abort(waits(facts.name, waitMs)));
  const over = AbortSignal.any([late.signal, ...(signal === undefined ? [] : [signal])]);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  over.addEventListener('abort', () => reject(over.reason as Error), { once: true });
  const moved = { wake: (): void => undefined };
  const stop = world.store.onCommit((_events, head) => {
    if (head.ref.runId === runId) moved.wake();
  });
  try {
    for (;;) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      moved.wake = resolve;
      const view = await world.desk.view(grant, runId);
      if (view.state === 'ended') return view;
      await Promise.race([woken, aborted]);
    }
  } finally {
    aborted.catch(() => undefined);
    stop();
    disarm();
  }
}

function waits(name: string, waitMs: number): CaseOpsError {
  return new CaseOpsError(
    'ERR_APPROVAL_STATE',
    `The call of ${name} was not decided and applied within ${waitMs} ms.`,
    {
      at: 'runtime',
      retryable: true,
    },
  );
}

async function resultOf(
  { world, grant }: Caller,
  { runId, steps, effects, result }: RunView,
  own: unknown,
): Promise<unknown> {
  const error = steps.flatMap(({ errors }) => errors).at(-1);
  if (result !== 'completed')
    throw new CaseOpsError(error?.code ?? 'ERR_STATE', error?.message ?? `Run ${runId} ended ${result}.`, {
      at: 'runtime',
    });
  if (own !== undefined) return own;
  const state = await world.driver.state({ tenant: grant.tenant, runId });
  const [step] = state?.steps.values() ?? [];
  const data = step?.result?.data as { readonly result?: unknown } | undefined;
  if (data !== undefined) return data.result;
  throw new CaseOpsError('ERR_STATE', `Run ${runId} with ${effects.length} effects keeps no result.`, {
    at: 'runtime',
  });
}

function factsOf({ foreign }: EnteredTool, options: GovernedEffectOptions): EffectToolFacts {
  const { action, purpose, resource, timeoutMs = TIMEOUT_MS } = options;
  const name = (options.name ?? foreign.name).replaceAll('_', '-');
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(name))
    throw new CaseOpsError('ERR_CONFIG', `governedEffect: expected a name in lower case with dashes, got "${name}".`, {
      at: 'runtime',
    });
  return { name, description: foreign.description, action, resourceType: resource.type, purpose, timeoutMs };
}

/** Grants as they are given, and development identities by name. */
function peopleOf({ grant, purpose, clock = systemClock, ids = systemIds }: GovernedEffectOptions) {
  const people = createDevelopmentIssuer({
    issuer: 'urn:caseops:issuer:development',
    audience: SUPERVISOR_WORKLOAD,
    signer: generateSigner(),
    clock,
    ids,
    supervisor: SUPERVISOR_WORKLOAD,
    purposes: [purpose],
    actions: grant.actions,
  });
  return (by: Decider | GovernedEffectOptions['grant']): RootGrant =>
    'as' in by ? people.grantFor(by.as) : rootGrant.parse(by);
}
