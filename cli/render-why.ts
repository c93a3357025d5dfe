/** The chain behind a sentence as a tree, a verdict per link. */
import type { WhyView } from 'caseops';
import { tone, wrap } from './output.ts';

const COLUMNS = 92;

const KIND: Readonly<Record<string, string>> = {
  claim: 'sentence',
  evidence: 'evidence',
  record: 'artifact',
  tool_call: 'tool call',
  worker: 'worker',
  task: 'A2A task',
  step: 'step',
  lease: 'lease',
  approval: 'approval',
  prohibition: 'prohibition',
  lease_registry: 'lease registry',
  effect_ledger: 'effect ledger',
  earlier_run: 'earlier run',
};

export function renderWhy(why: WhyView): string {
  const verdict = why.holds
    ? tone('ok', `holds: ${why.linkCount} of ${why.linkCount} links verified`)
    : why.brokenCount === 0
      ? tone('warn', `erased: ${why.erasedCount} of ${why.linkCount} links are not kept any more`)
      : tone('bad', `broken: ${why.brokenCount} of ${why.linkCount} links do not hold`);
  const lines = [...wrap(`“${why.text}”`, COLUMNS), `${verdict}  ${tone('quiet', `${why.runId}#${why.key}`)}`];
  why.branches.forEach((branch, index) => {
    const last = index === why.branches.length - 1;
    lines.push(`${last ? '└─' : '├─'} ${tone('strong', branch.anchor)}`);
    branch.links.forEach((link, at) => {
      const trunk = last ? '   ' : '│  ';
      const end = at === branch.links.length - 1;
      const kind =
        link.verdict === 'Broken'
          ? 'bad'
          : link.verdict === 'not checked' || link.verdict === 'Erased' || link.verdict === 'Not needed'
            ? 'quiet'
            : 'ok';
      lines.push(
        `${trunk}${end ? '└─' : '├─'} ${(KIND[link.kind] ?? link.kind).padEnd(14)} ${tone(kind, link.verdict.padEnd(13))} ${link.ref}`,
      );
      if (link.note !== '')
        for (const line of wrap(link.note, COLUMNS - 22))
          lines.push(`${trunk}${end ? '  ' : '│ '}${' '.repeat(30)}${tone('quiet', line)}`);
    });
  });
  return lines.join('\n');
}
