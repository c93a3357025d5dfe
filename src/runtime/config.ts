/**
 * `caseops.config.ts`: how one installation runs. Everything has a default except what a production profile must decide. A finding is a
 * sentence that says what was expected, what came and where. Source: issue 3 "Configuration".
 */
import { name } from '#contracts/ids.ts';
import { escapePointer } from '#kernel/pointer.ts';
import { z } from 'zod';
import { remoteTeamOptions } from './remote-team.ts';
import { telemetryConfig } from './telemetry-config.ts';

const count = z.int().min(1).max(1_000_000);
const text = z.string().min(1).max(512);
const secretName = z.string().regex(/^[a-z][a-z0-9.-]{0,63}$/);
const pointer = z.string().regex(/^(\/[^/]*)+$/);
/** A name, or `*` for every one, which the production profile refuses. */
const allowed = z.union([z.literal('*'), name]);
const action = z.union([z.literal('*'), z.string().regex(/^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/)]);

const users = z.strictObject({
  /** `iss` of the tokens, exactly. */
  issuer: z.url({ protocol: /^https?$/ }),
  audience: text,
  /** Pinned keys; left out: looked up at the issuer. */
  jwks: z.strictObject({ keys: z.array(z.record(z.string(), z.json())).min(1).max(64) }).optional(),
  claims: z
    .strictObject({
      subject: pointer.default('/sub'),
      tenant: pointer.default('/tenant'),
      roles: pointer.default('/roles'),
    })
    .prefault({}),
  tenants: z.array(allowed).min(1).max(1_024),
  /** Role of the issuer → what it may do here. */
  roles: z.record(
    z.string().min(1).max(128),
    z.strictObject({
      roles: z.array(z.enum(['requester', 'approver', 'auditor', 'custodian'])).min(1),
      purposes: z.array(allowed).max(64).default([]),
      actions: z.array(action).max(256).default([]),
    }),
  ),
});

/** After how many days since a run's last change what it left is erased by `caseops retention run`; left out: kept. */
const retention = z.strictObject({
  /** The delivered bytes. */
  artifactsDays: z.int().min(0).max(36_500).optional(),
  /** Everything but references: the bodies of events, and what rows beside them say. The artifacts go with them, and every graph. */
  eventsDays: z.int().min(0).max(36_500).optional(),
});

const schema = z.strictObject({
  /** Module that exports the case, relative to this file. */
  case: text.optional(),
  /** Data directory, relative to this file. */
  directory: text.optional(),
  host: z.enum(['127.0.0.1', '::1']).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).optional(),
  profile: z.enum(['development', 'production']).default('development'),
  /** Where the supervisor keeps what is too large for its database; teams keep theirs in their own directories. */
  artifacts: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('files') }),
      z.strictObject({
        kind: z.literal('s3'),
        endpoint: z.url({ protocol: /^https?$/ }),
        bucket: text,
        region: text,
        prefix: z.string().max(128).optional(),
        /** Names of secrets. */
        accessKeyId: secretName,
        secretAccessKey: secretName,
        sessionToken: secretName.optional(),
      }),
    ])
    .prefault({ kind: 'files' }),
  store: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('sqlite') }),
      z.strictObject({ kind: z.literal('memory') }),
      z.strictObject({
        kind: z.literal('postgres'),
        /** Name of the secret that holds postgres://USER:PASSWORD@HOST:PORT/DATABASE. */
        url: secretName,
        /** False: `caseops db migrate` does it, and a database of another version is refused. */
        migrate: z.boolean().default(true),
      }),
    ])
    .prefault({ kind: 'sqlite' }),
  secrets: z
    .discriminatedUnion('from', [
      z.strictObject({ from: z.literal('environment'), prefix: z.string().max(64).optional() }),
      z.strictObject({ from: z.literal('files'), directory: text }),
    ])
    .optional(),
  /** Names of secrets, each an ES256 private key as a JWK. */
  keys: z
    .strictObject({
      issuer: secretName.optional(),
      supervisor: secretName.optional(),
      teams: z.record(name, secretName).optional(),
    })
    .prefault({}),
  users: users.optional(),
  remoteTeams: z.array(remoteTeamOptions).max(256).default([]),
  /** Of each tenant, unless `tenants` has its own. */
  quotas: z
    .strictObject({
      goalsPerMinuteMax: count.optional(),
      runsInFlightMax: count.optional(),
      tenants: z
        .record(name, z.strictObject({ goalsPerMinuteMax: count.optional(), runsInFlightMax: count.optional() }))
        .default({}),
      /** Of each MCP server, for all tenants together, in each process that calls it: a team has one. */
      toolServers: z.record(name, z.strictObject({ callsInFlightMax: count })).default({}),
    })
    .prefault({}),
  /** For every tenant, and for those that are named instead. */
  retention: retention.extend({ tenants: z.record(name, retention).default({}) }).prefault({}),
  /** Where spans and log lines go; the environment's OTEL_EXPORTER_OTLP_* and CASEOPS_LOG_LEVEL come before it. */
  telemetry: telemetryConfig
    .extend({
      /** Header → name of the secret that is its value. */
      otlpHeaderSecrets: z.record(z.string().max(128), secretName).optional(),
    })
    .optional(),
  /** Of all tenants together; what does not fit into the queue is refused with 429. */
  admission: z.strictObject({ runsInFlightMax: count.optional(), queueLengthMax: count.optional() }).prefault({}),
});

/** As an author writes it: what has a default may be left out. */
export type CaseOpsConfigInput = z.input<typeof schema>;
/** Checked, with defaults. */
export type CaseOpsConfig = z.output<typeof schema>;

export interface ConfigFinding {
  /** JSON pointer to the setting. */
  readonly pointer: string;
  readonly expected: string;
  /** Kind and, where it cannot be a secret, the value. */
  readonly got: string;
  /** All of it in one sentence, with the file. */
  readonly message: string;
}

export type CheckedConfig =
  | { readonly ok: true; readonly config: CaseOpsConfig }
  | { readonly ok: false; readonly findings: readonly ConfigFinding[] };

/** For an author's file: types what is written, changes nothing. */
export function defineConfig(config: CaseOpsConfigInput): CaseOpsConfigInput {
  return config;
}

/** Checks an untrusted configuration; `file` is named in the sentences. Never throws. */
export function checkConfig(given: unknown, file = 'the configuration'): CheckedConfig {
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, config: parsed.data };
  return { ok: false, findings: parsed.error.issues.flatMap((issue) => findingsOf(issue, given, file)) };
}

function findingsOf(issue: z.core.$ZodIssue, given: unknown, file: string): readonly ConfigFinding[] {
  const at = (path: readonly PropertyKey[]): string => path.map((part) => `/${escapePointer(String(part))}`).join('');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const where = at([...issue.path, key]);
      return sentence({ pointer: where, expected: 'no such setting', got: 'a setting of that name', file });
    });
  return [
    sentence({ pointer: at(issue.path), expected: expectedOf(issue), got: describe(valueAt(given, issue.path)), file }),
  ];
}

/** What the schema says without its own words for "no"; of a union, what each of its members says. */
function expectedOf(issue: z.core.$ZodIssue): string {
  const members = issue.code === 'invalid_union' ? issue.errors.flat().map(expectedOf) : [];
  if (members.length > 0) return [...new Set(members)].join(' or ');
  const said = issue.message.replace(/^Invalid (input|option|url|string)[:,]?\s*/i, '').replace(/^expected /, '');
  return said === '' ? 'another value' : said;
}

export function sentence(of: Omit<ConfigFinding, 'message'> & { readonly file: string }): ConfigFinding {
  const { pointer: where, expected, got, file } = of;
  return {
    pointer: where,
    expected,
    got,
    message: `Expected ${expected} at ${where || '/'} in ${file}, got ${got}.`,
  };
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Readonly<Record<PropertyKey, unknown>>)[part]
        : undefined,
    given,
  );
}

/** A text is shown by its length only: somebody may have put a key where its name belongs. */
function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') return `a text of ${value.length} characters`;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
