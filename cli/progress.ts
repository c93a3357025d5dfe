/** Live progress: a step list with a bar on a terminal, one plain line per event elsewhere. Always on stderr. */
import type { StreamedEvent } from './client.ts';
import { tone } from './output.ts';

export interface Progress {
  readonly take: (event: StreamedEvent) => void;
  readonly end: () => void;
}

interface StepLine {
  readonly label: string;
  state: string;
}

const BAR_WIDTH = 20;

export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  const steps = new Map<string, StepLine>();
  let drawn = 0;
  const draw = (): void => {
    if (drawn > 0) stream.write(`\u001b[${drawn}A\u001b[0J`);
    const lines = liveLines(steps, stream);
    stream.write(lines.map((line) => `${line}\n`).join(''));
    drawn = lines.length;
  };
  return {
    take: (event) => {
      const line = note(event, steps);
      if (stream.isTTY) draw();
      else if (line !== undefined) stream.write(`${line}\n`);
    },
    end: () => {
      if (stream.isTTY && drawn > 0) stream.write(`\u001b[${drawn}A\u001b[0J`);
      drawn = 0;
    },
  };
}

function liveLines(steps: ReadonlyMap<string, StepLine>, stream: NodeJS.WriteStream): readonly string[] {
  const all = [...steps.values()];
  if (all.length === 0) return [tone('quiet', 'planning …', stream)];
  const done = all.filter((step) => !['waiting', 'running'].includes(step.state)).length;
  const filled = Math.round((done / all.length) * BAR_WIDTH);
  return [
    `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${done} of ${all.length} steps`,
    ...[...steps].map(
      ([id, step]) => `  ${id.padEnd(4)} ${step.label.padEnd(30)} ${tone(toneOf(step.state), step.state, stream)}`,
    ),
  ];
}

function toneOf(state: string): 'ok' | 'bad' | 'accent' | 'quiet' {
  if (state === 'completed') return 'ok';
  if (state === 'running') return 'accent';
  return state === 'waiting' ? 'quiet' : 'bad';
}

/** Updates the step list; the plain line of the event where it is worth one. */
function note(event: StreamedEvent, steps: Map<string, StepLine>): string | undefined {
  const { body } = event;
  const { stepId = '' } = { ...(body['result'] as { stepId?: string } | undefined), ...(body as { stepId?: string }) };
  const set = (state: string): string => {
    const step = steps.get(stepId);
    if (step !== undefined) step.state = state;
    return `${stepId} ${step?.label ?? ''}: ${state}`;
  };
  switch (event.kind) {
    case 'plan.accepted': {
      const plan = body['plan'] as { steps: readonly { stepId: string; team: string; skillId: string }[] };
      for (const step of plan.steps)
        steps.set(step.stepId, { label: `${step.team}/${step.skillId}`, state: 'waiting' });
      return `plan accepted: ${plan.steps.length} steps`;
    }
    case 'plan.rejected':
      return `plan refused: ${(body['findings'] as readonly { code: string }[]).map((finding) => finding.code).join(', ')}`;
    case 'step.dispatched':
      return set('running');
    case 'step.attempt_failed':
      return `${stepId}: ${(body['error'] as { message: string }).message}`;
    case 'worker.proposed':
      return body['verdict'] === 'refused' ? `${stepId}: a proposal was refused: ${String(body['reason'])}` : undefined;
    case 'step.settled':
      return set((body['result'] as { status: string }).status);
    case 'step.skipped':
      return set('skipped');
    case 'run.queued':
      return `waiting for its turn, ${String(body['aheadCount'])} before it`;
    case 'run.admitted':
      return 'its turn has come';
    case 'run.blocked':
      return `blocked: ${String(body['question'])}`;
    case 'cancel.requested':
      return 'cancelling';
    case 'run.recovered':
      return 'recovered after an interruption';
    case 'run.ended':
      return `ended: ${String(body['result'])}`;
    default:
      return undefined;
  }
}
