/** Finds the case that a module exports, under whatever name. */
import { CaseOpsError } from '#contracts/error.ts';
import type { CaseDefinition } from './define-case.ts';

/** `module` is a URL. ERR_CONFIG when it cannot be loaded or exports no case, or several. */
export async function loadCase(module: string): Promise<CaseDefinition> {
  const exports = await load(module);
  const found = new Set(Object.values(exports).filter(isCase));
  const [first, ...more] = found;
  if (first !== undefined && more.length === 0) return first;
  throw new CaseOpsError(
    'ERR_CONFIG',
    `Expected one exported case (defineCase) in ${module}, got ${found.size === 0 ? 'none' : found.size}.`,
    { at: 'runtime' },
  );
}

async function load(module: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(module)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `The case module ${module} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      { at: 'runtime', cause },
    );
  }
}

function isCase(value: unknown): value is CaseDefinition {
  return typeof value === 'object' && value !== null && 'teams' in value && 'goalKinds' in value && 'module' in value;
}
