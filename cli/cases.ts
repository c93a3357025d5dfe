/** The cases that come with the command line. Each has a data directory of its own, and is loaded only when its runtime starts. */
import { CaseOpsError, type CaseDefinition } from 'caseops';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export type CaseName = 'claims' | 'release';

export interface BundledCase {
  readonly load: () => Promise<CaseDefinition>;
  /** What the demonstration asks. */
  readonly question: string;
  /** The claim whose chain the demonstration shows. */
  readonly claim: string;
  /** What one would type after it. */
  readonly next: (runId: string) => readonly string[];
}

export const CASES: Readonly<Record<CaseName, BundledCase>> = {
  claims: {
    load: async () => (await import('../cases/claims/case.ts')).claimsCase,
    question:
      'Find out why C-102 has not been completed and tell me what is missing. If the customer needs to be notified, generate a notification draft first; do not send it directly.',
    claim: 'status',
    next: (runId) => [
      `why ${runId}#not-sent`,
      `runs show ${runId}`,
      'ask "What is the status of claims C-102, C-103 and C-104?"',
    ],
  },
  release: {
    load: async () => (await import('../cases/release/case.ts')).releaseCase,
    question:
      'Promote reranker-v17 to 25% traffic. Cite its eval regressions and tell me whether its canary burned error budget in the last hour.',
    claim: 'promoted',
    next: (runId) => ['approvals ls --as approver', `runs show ${runId}`],
  },
};

export const DEFAULT_CASE: CaseName = 'claims';
const isCaseName = (name: string): name is CaseName => Object.hasOwn(CASES, name);

/** ERR_USAGE for a name that is none. */
export function caseNamed(name: string): CaseName {
  if (isCaseName(name)) return name;
  throw new CaseOpsError('ERR_USAGE', `Expected one of the cases ${Object.keys(CASES).join(', ')}, got ${name}.`, {
    at: 'cli',
  });
}

/** The case that a runtime was started for last; claims at first. Looking, deciding and answering go on there. */
export function lastCase(): CaseName {
  try {
    const name = readFileSync(join(rootDirectory(), 'case'), 'utf8').trim();
    return isCaseName(name) ? name : DEFAULT_CASE;
  } catch {
    return DEFAULT_CASE;
  }
}

export function rememberCase(name: CaseName): void {
  mkdirSync(rootDirectory(), { recursive: true });
  writeFileSync(join(rootDirectory(), 'case'), `${name}\n`);
}

/** The root for claims and for a configured case; a folder in it for every other. */
export function dataDirectory(name: CaseName): string {
  return name === DEFAULT_CASE ? rootDirectory() : join(rootDirectory(), 'cases', name);
}

let configured: string | undefined;

/** Told once by whoever has read the configuration. */
export function configureDirectory(directory: string | undefined): void {
  configured = directory;
}

/** CASEOPS_HOME, else what the configuration says, else `.caseops` here. */
export function rootDirectory(): string {
  return resolve(process.env['CASEOPS_HOME'] ?? configured ?? '.caseops');
}
