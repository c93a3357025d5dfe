/** A guide as a list of what its reader does: files to write, commands to run, and what they print. */
export type Step =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly commands: readonly string[]; readonly prints: readonly string[] };

const STEP = /^(?:Write `([^`\n]+)`|Run|It prints):\n\n```(\w+)\n([\s\S]*?)\n```$/gm;

/** Throws when a code block belongs to no step: a reader would not know what to do with it. */
export function stepsOf(guide: string): readonly Step[] {
  const steps: Step[] = [];
  const blockCount = [...guide.matchAll(/^```\w+$/gm)].length;
  const found = [...guide.matchAll(STEP)];
  if (found.length !== blockCount) throw new Error(`${blockCount} code blocks, ${found.length} with an instruction`);
  for (const [, path, language, text = ''] of found) {
    if (path !== undefined) steps.push({ kind: 'write', path, text: `${text}\n` });
    else if (language === 'sh') steps.push({ kind: 'run', commands: text.split('\n'), prints: [] });
    else {
      const last = steps.at(-1);
      if (last?.kind !== 'run') throw new Error('something is printed that nothing ran for');
      steps[steps.length - 1] = { ...last, prints: text.split('\n') };
    }
  }
  return steps;
}
