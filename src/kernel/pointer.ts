/** JSON Pointer, RFC 6901. Own members only: a pointer never reaches a prototype. */
export type Resolved = { readonly found: true; readonly value: unknown } | { readonly found: false };

const INDEX = /^(0|[1-9]\d*)$/;

/** The value at `pointer`; not found when any part is missing, `-`, or not a container. */
export function resolvePointer(value: unknown, pointer: string): Resolved {
  if (pointer === '') return { found: true, value };
  if (!pointer.startsWith('/')) return { found: false };
  let current = value;
  for (const raw of pointer.slice(1).split('/')) {
    const part = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(current)) {
      if (!INDEX.test(part) || Number(part) >= current.length) return { found: false };
      current = current[Number(part)];
    } else if (typeof current === 'object' && current !== null && Object.hasOwn(current, part)) {
      current = (current as Readonly<Record<string, unknown>>)[part];
    } else return { found: false };
  }
  return { found: true, value: current };
}

/** One part of a pointer, escaped. */
export function escapePointer(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}
