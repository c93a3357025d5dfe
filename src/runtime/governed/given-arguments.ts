/** The arguments of calls that were asked for and not yet proposed: a process that is started again still knows what was wanted. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { canonicalText } from '#kernel/canonical.ts';
import type { JsonArguments } from './call-arguments.ts';

export interface GivenArguments {
  /** Durable when it returns. The same id has the same arguments. */
  keep(callId: string, args: JsonArguments): void;
  find(callId: string): JsonArguments | undefined;
}

const kept = z.record(z.string(), z.json());
const CALL_ID = /^call-[0-9a-f]{32}$/;

/** One file a call; creates the directory. */
export function openGiven(directory: string): GivenArguments {
  mkdirSync(directory, { recursive: true });
  const pathOf = (callId: string): string => join(directory, `${callId}.json`);
  return {
    keep: (callId, args) => {
      const path = pathOf(callId);
      if (existsSync(path)) return;
      writeFileSync(`${path}.new`, canonicalText(args) ?? '{}', { flush: true });
      renameSync(`${path}.new`, path);
    },
    find: (callId) =>
      CALL_ID.test(callId) && existsSync(pathOf(callId))
        ? kept.parse(JSON.parse(readFileSync(pathOf(callId), 'utf8')))
        : undefined,
  };
}
