/** A run for a terminal: what was forbidden, the numbered sentences with their records, what could not be said, and what to type next. */
import type { RunView } from 'caseops';
import { table, tone, wrap } from './output.ts';

const COLUMNS = 96;

export function renderRun(run: RunView): string {
  const parts: string[] = [tone('strong', run.statement.text)];
  const prohibited = run.goal?.prohibitedActions ?? [];
  if (prohibited.length > 0) parts.push(`Must not: ${prohibited.join(', ')}`);
  if (run.blocked !== null)
    parts.push(
      `Waiting for ${['APPROVAL', 'CONTRACT', 'RESULT_CONFLICT'].includes(run.blocked.code) ? 'a decision' : 'an answer'}: ${run.blocked.question}`,
    );
  if (run.erased !== null) parts.push(erasedLine(run.erased));
  for (const move of run.migrations)
    parts.push(
      `Migrated from plan ${move.fromVersion} to ${move.toVersion} by ${move.by} at ${move.at}: ${move.reason}`,
    );
  for (const move of run.revisions)
    parts.push(
      `Plan ${move.toVersion} in place of ${move.fromVersion} by ${move.by} at ${move.at}: ${move.reason} (stands: ${move.kept.join(', ') || 'nothing'})`,
    );
  if (run.claims.length > 0) parts.push(run.claims.map((claim, index) => sentence(index + 1, claim)).join('\n'));
  if (run.unsaid.length > 0) {
    parts.push(
      [
        tone('warn', 'Not said:'),
        ...run.unsaid.map(
          (item) =>
            `  – ${item.impact} (${item.reason.replaceAll('_', ' ')}${item.stepIds.length === 0 ? '' : `, ${item.stepIds.join(', ')}`})`,
        ),
      ].join('\n'),
    );
  }
  if (run.missingSteps.length > 0) {
    parts.push(
      [
        tone('warn', 'Missing steps:'),
        ...run.missingSteps.map(
          (step) => `  ${step.stepId} ${step.team}/${step.skillId}: ${step.status}. ${step.reason}`,
        ),
      ].join('\n'),
    );
  }
  if (run.findings.length > 0)
    parts.push(
      run.findings
        .map(
          (finding) =>
            `  ${finding.code} at ${finding.pointer || '/'}: expected ${finding.expected}, got ${finding.got}`,
        )
        .join('\n'),
    );
  parts.push(summaryLine(run));
  return parts.join('\n\n');
}

export function summaryLine(run: RunView): string {
  const word = run.result ?? run.state;
  const kind = word === 'completed' ? 'ok' : word === 'failed' || word === 'refused' ? 'bad' : 'warn';
  const settled = run.steps.filter((step) => step.state === 'settled').length;
  const takenOver = run.steps.filter((step) => step.origin !== null).length;
  const facts = [
    `${settled} of ${run.steps.length} steps`,
    ...(takenOver === 0 ? [] : [`${takenOver} taken over`]),
    ...(run.goal === null ? [] : [`${run.used.toolCallCount} of ${run.goal.budget.toolCallCountMax} tool calls`]),
    `${run.effects.length} effects`,
    ...(run.durationMs === null ? [] : [`${run.durationMs} ms`]),
  ];
  const reason = run.reason === null || run.result === 'completed' ? '' : ` ${run.reason}`;
  return `${tone(kind, word)}${run.needsHuman ? ' (needs a person)' : ''} · ${facts.join(' · ')} · ${run.runId}${reason === '' ? '' : `\n${reason.trim()}`}`;
}

export function renderSteps(run: RunView): string {
  const started = run.steps.flatMap((step) => (step.startedAt === null ? [] : [step.startedAt])).toSorted()[0];
  const offset = (at: string | null): string =>
    at === null || started === undefined ? '–' : `+${Date.parse(at) - Date.parse(started)} ms`;
  const rows = run.steps.map((step) => [
    step.stepId,
    `${step.team}/${step.skillId}`,
    step.status ?? step.state,
    offset(step.startedAt),
    offset(step.settledAt),
    step.dependsOn.length === 0 ? '–' : step.dependsOn.map((dependency) => dependency.stepId).join(','),
    step.origin === null ? String(step.attempts.length) : `${step.origin.runId}/${step.origin.stepId}`,
    step.evidence.join(', ') ||
      step.skipReason ||
      step.errors[0]?.message ||
      step.attempts.at(-1)?.error?.message ||
      '–',
  ]);
  return table([
    ['step', 'team/skill', 'status', 'began', 'settled', 'after', 'attempts or earlier run', 'evidence or reason'],
    ...rows,
  ]);
}

/** Results that changed nothing but their own record; empty when there were none. */
export function renderArrivals({ arrivals, arrivalCount }: RunView): string {
  if (arrivalCount === 0) return '';
  const rows = arrivals.map(({ kind, stepId, attempt, planVersion, resultHash, at, reason }) => [
    kind,
    `${stepId} (attempt ${attempt}, plan ${planVersion})`,
    at,
    resultHash ?? '–',
    reason,
  ]);
  const head = `${arrivalCount} results changed nothing but their own record:`;
  return `${head}\n${table([['result', 'step', 'at', 'hash', 'why'], ...rows])}`;
}

function erasedLine({ scope, cause, by, at, tombstoneId }: NonNullable<RunView['erased']>): string {
  const what =
    scope === 'run' ? 'What this run asked, found and said was erased' : 'The artifacts of this run were erased';
  const why = cause.kind === 'policy' ? `by policy after ${cause.olderThanDays} days` : 'on request';
  return `${what} at ${at} ${why}, by ${by} (${tombstoneId}). Its log still verifies.`;
}

/** What a person would type next. */
export function nextCommand(run: RunView): string {
  if (run.blocked?.code === 'APPROVAL') return 'caseops approvals ls --as approver';
  if (run.blocked?.code === 'EFFECT_UNKNOWN') return `caseops effects ls --run ${run.runId}`;
  if (run.blocked?.code === 'RESULT_CONFLICT') return `caseops runs resolve ${run.runId} STEP --held HASH --reason …`;
  if (run.blocked?.code === 'CONTRACT') return `caseops runs migrate ${run.runId} --reason …`;
  if (run.blocked !== null) return `caseops answer ${run.runId} --input ${run.blocked.wants}=…`;
  if (run.state !== 'ended') return `caseops runs watch ${run.runId}`;
  if (run.claims.length > 0)
    return `caseops why ${run.runId}#${run.claims.find((claim) => claim.kind === 'fact')?.key ?? run.claims[0]?.key ?? ''}`;
  return `caseops runs show ${run.runId}`;
}

function sentence(number: number, claim: RunView['claims'][number]): string {
  const [first = '', ...rest] = wrap(claim.text, COLUMNS);
  const sources = claim.evidence.map(({ ref, observedIn }) =>
    observedIn === null ? ref : `${ref} (from ${observedIn.runId})`,
  );
  const evidence = [...new Set(sources)].join(', ');
  const mark = claim.kind === 'inference' ? ' (inferred)' : '';
  return [
    `${String(number).padStart(2)}. ${first}`,
    ...rest.map((line) => `    ${line}`),
    tone('quiet', `    [${claim.key}] ${evidence}${mark}`),
  ].join('\n');
}
