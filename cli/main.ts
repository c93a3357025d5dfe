#!/usr/bin/env node
/** `caseops`: every command is loaded only when it is typed. */
import { enableCompileCache } from 'node:module';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { VERSION } from './version.ts';

const output = (): Option =>
  new Option('-o, --output <format>', 'what stdout gets').choices(['table', 'json', 'jsonl']).default('table');
const as = (): Option =>
  new Option('--as <account>', 'development identity, or its role, that asks (default: who is logged in)');
const without = (): Option => new Option('--without <teams>', 'teams not to start, comma-separated').default('');
const inCase = (): Option => new Option('--case <name>', 'claims or release').default('claims');
const port = (): Option => new Option('--port <number>', 'port of API and page').default(0).argParser(whole(0, 65_535));

/** Reads a whole number between two bounds, or says what was expected. */
function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
    return value;
  };
}

/** As in exit-codes.ts, which is not loaded for a wrong option. */
const USAGE = 2;

type Action = (...args: readonly never[]) => Promise<number>;

/** Runs a command's action and turns its number into the exit code. */
function run(load: () => Promise<Action>): (...args: readonly unknown[]) => Promise<void> {
  return async (...args) => {
    // Commander hands over options and command last.
    const [options, command] = args.slice(-2) as [Record<string, unknown>, Command];
    if (options['as'] === undefined && command.options.some(({ long }) => long === '--as'))
      options['as'] = await (await import('./account.ts')).currentAccount();
    process.exitCode = await (await load())(...(args as readonly never[]));
  };
}

function program(): Command {
  const root = new Command('caseops')
    .description('Runs a business goal across independent agent teams and can prove every sentence of the answer.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(type "caseops --help" for the commands)');
  addServing(root);
  addAsking(root);
  addPlans(root.command('plan').description('look at plans without running them'));
  addRuns(root.command('runs').description('runs, newest first'));
  addApprovals(root.command('approvals').description('actions that wait for approval, and decisions'));
  addEffects(root.command('effects').description('the effect ledger'));
  addErasing(root);
  addLooking(root);
  addDrills(root.command('drill').description('play what the product must withstand, on its real parts'));
  addPeople(root);
  return root;
}

function addServing(root: Command): void {
  root
    .command('demo')
    .description("start the case's four teams, ask its question, show the answer and a page")
    .option('--once', 'end by itself after the answer')
    .addOption(port())
    .addOption(inCase())
    .addOption(without())
    .action(run(async () => (await import('./commands/demo.ts')).demo));
  root
    .command('serve')
    .description('start the runtime, its teams, the API and the page, and stay')
    .addOption(port())
    .addOption(inCase())
    .addOption(without())
    .action(run(async () => (await import('./commands/serve.ts')).serve));
}

function addAsking(root: Command): void {
  root
    .command('ask')
    .description('ask a goal in words')
    .argument('<text>')
    .option('--language <code>', 'en or ja; detected when left out')
    .option('--plan-only', 'show contract and plan, run nothing')
    .option('--session <id>', 'of an earlier run: what the text does not name is what that run was about')
    .option('--idempotency-key <key>', 'the same key and text return the same run')
    .addOption(as())
    .addOption(inCase())
    .addOption(without())
    .addOption(output())
    .action(run(async () => (await import('./commands/ask.ts')).ask));
  root
    .command('answer')
    .description("answer a blocked run's question")
    .argument('<run>')
    .requiredOption('--input <name=value...>', 'what was asked for')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/answer.ts')).answer));
}

function addPlans(plan: Command): void {
  plan
    .command('show')
    .description('the contract and plan for a text')
    .argument('<text>')
    .addOption(as())
    .addOption(inCase())
    .addOption(without())
    .addOption(output())
    .action(run(async () => (await import('./commands/plan.ts')).planShow));
  plan
    .command('validate')
    .description('what the validator says of a plan file, for a text')
    .argument('<file>')
    .requiredOption('--goal <text>', 'the goal the plan is for')
    .addOption(as())
    .addOption(inCase())
    .addOption(without())
    .addOption(output())
    .action(run(async () => (await import('./commands/plan.ts')).planValidate));
}

function addRuns(runs: Command): void {
  runs
    .command('ls')
    .description('list runs')
    .option('--limit <number>', 'at most this many', whole(1, 200), 20)
    .option('--result <word>', 'only runs that ended so')
    .option('--state <word>', 'only runs in this state')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsList));
  runs
    .command('show')
    .description('a run, its answer and its steps')
    .argument('<run>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsShow));
  runs
    .command('watch')
    .description('follow a run to its end')
    .argument('<run>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsWatch));
  runs
    .command('cancel')
    .description('stop a run; "accepted" is not "stopped"')
    .argument('<run>')
    .option('--reason <text>', 'why', 'cancelled by the requester')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsCancel));
  runs
    .command('resolve')
    .description('say which of two contradicting results of a step holds')
    .argument('<run>')
    .argument('<step>')
    .requiredOption('--held <hash>', 'hash of the result that holds, as the blocked run names it')
    .requiredOption('--reason <text>', 'why, for the log')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsResolve));
  runs
    .command('replan')
    .description('take another plan while a run is running; what is unchanged stands')
    .argument('<run>')
    .option('--plan <file>', 'the plan; without it the planner proposes one from what is offered now')
    .requiredOption('--reason <text>', 'why, for the log')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsReplan));
  runs
    .command('migrate')
    .description('move a run to the contracts offered now; without it, it finishes under those of its plan')
    .argument('<run>')
    .requiredOption('--reason <text>', 'why, for the log')
    .option('--to <contracts>', 'current: what the teams offer now', 'current')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/runs.ts')).runsMigrate));
}

function addErasing(root: Command): void {
  const custodian = (): Option =>
    new Option('--as <account>', 'who erases: a role, or role@tenant').default('custodian');
  root
    .command('retention')
    .description('what is kept for how long')
    .command('run')
    .description('erase what the configured policies say is due; counts only, without --yes')
    .option('--tenant <tenant>', 'whose; default: that of the account')
    .option('--yes', 'erase it for good')
    .addOption(custodian())
    .addOption(output())
    .action(run(async () => (await import('./commands/retention.ts')).retentionRun));
  root
    .command('erase')
    .description('erase every ended run that mentions a subject, here and at the teams; counts only, without --yes')
    .requiredOption('--subject <type:id>', 'such as member:m42')
    .requiredOption('--reason <text>', 'why, for the tombstones')
    .option('--tenant <tenant>', 'whose; default: that of the account')
    .option('--yes', 'erase it for good')
    .addOption(custodian())
    .addOption(output())
    .action(run(async () => (await import('./commands/retention.ts')).erase));
}

function addPeople(root: Command): void {
  root
    .command('login')
    .description('choose the development identity that commands act as, until another is chosen')
    .argument('<account>')
    .action(run(async () => (await import('./commands/login.ts')).login));
  root
    .command('whoami')
    .description('who commands act as')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/login.ts')).whoami));
}

function addApprovals(approvals: Command): void {
  approvals
    .command('ls')
    .description('newest first')
    .option('--state <word>', 'pending, approved, rejected, stale, expired, spent or withdrawn')
    .option('--run <run>', 'only of this run')
    .option('--limit <number>', 'at most this many', whole(1, 200), 50)
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsList));
  approvals
    .command('show')
    .description('one action: what is there, what would be there, and its digest')
    .argument('<approval>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsShow));
  approvals
    .command('approve')
    .description('approve exactly the action with this digest')
    .argument('<approval>')
    .option('--digest <digest>', 'of the action, as show says')
    .option('--reason <text>', 'why')
    .option('--yes', 'never approves; the digest does')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsApprove));
  approvals
    .command('reject')
    .description('reject; the run ends with the reason')
    .argument('<approval>')
    .option('--reason <text>', 'why, in writing')
    .option('--digest <digest>', 'of the action; whatever is pending when left out')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsReject));
  approvals
    .command('withdraw')
    .description('take a request back, as who asked for it')
    .argument('<approval>')
    .requiredOption('--reason <text>', 'why')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsWithdraw));
  approvals
    .command('repropose')
    .description('ask again for what went stale, on the version that is there now')
    .argument('<approval>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/approvals.ts')).approvalsRepropose));
}

function addEffects(effects: Command): void {
  effects
    .command('ls')
    .description('latest change first')
    .option('--state <word>', 'such as completed, unknown or in_progress')
    .option('--run <run>', 'only of this run')
    .option('--limit <number>', 'at most this many', whole(1, 200), 50)
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/effects.ts')).effectsList));
  effects
    .command('show')
    .description('one effect and all that happened to it')
    .argument('<effect>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/effects.ts')).effectsShow));
  effects
    .command('reconcile')
    .description('ask the owner about an effect in doubt, or say what a person found out')
    .argument('<effect>')
    .addOption(new Option('--finding <word>', 'what a person found out').choices(['applied', 'absent']))
    .option('--reason <text>', 'how it was found out')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/effects.ts')).effectsReconcile));
}

function addLooking(root: Command): void {
  root
    .command('why')
    .description('the chain behind a sentence: RUN or RUN#claim')
    .argument('<reference>')
    .addOption(as())
    .addOption(output())
    .action(run(async () => (await import('./commands/why.ts')).why));
  root
    .command('agents')
    .description('teams, their cards and skills')
    .command('ls')
    .description('list teams as discovery sees them now')
    .addOption(as())
    .addOption(inCase())
    .addOption(without())
    .addOption(output())
    .action(run(async () => (await import('./commands/agents.ts')).agentsList));
  root
    .command('doctor')
    .description('check this installation')
    .addOption(output())
    .action(run(async () => (await import('./commands/doctor.ts')).doctor));
}

function addDrills(drill: Command): void {
  drill
    .command('effects')
    .description('lost replies, killed writers, double approvals: each effect once, none unapproved')
    .option('--only <stories>', 'these stories, comma-separated', '')
    .option('--json', 'one check object on stdout')
    .addOption(output())
    .action(run(async () => (await import('./commands/drill.ts')).drillEffects));
}

enableCompileCache();
try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = await report(error);
}

/** The exit code of a failure, after saying what happened. What it needs is loaded only now. */
async function report(failure: unknown): Promise<number> {
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? 0 : USAGE;
  const [{ CaseOpsError }, { EXIT, exitOfError }, { Interrupted }, { hint, tone }] = await Promise.all([
    import('caseops'),
    import('./exit-codes.ts'),
    import('./interrupt.ts'),
    import('./output.ts'),
  ]);
  if (failure instanceof Interrupted) {
    hint(failure.message);
    return EXIT.interrupted;
  }
  if (failure instanceof CaseOpsError) {
    hint(`${tone('bad', failure.code, process.stderr)} ${failure.message}`);
    return exitOfError(failure);
  }
  hint(failure instanceof Error ? (failure.stack ?? failure.message) : String(failure));
  return EXIT.error;
}
