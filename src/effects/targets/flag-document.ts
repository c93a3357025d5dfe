/**
 * A flagd flag file as a value: which releases have which share of the traffic, at which version, and which promotions made it so.
 * flagd-core reads `flags` and ignores our member beside it; what others wrote into the file stays. Source: DESIGN §8.3.
 */
import { digestOf } from '#kernel/digest.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import { z } from 'zod';

/** Of the file. */
const FLAG_FILE_BYTES_MAX = 4_194_304;
/** The oldest is forgotten first; an old key cannot be applied again all the same, since its expected version has passed. */
export const PROMOTION_COUNT_MAX = 1_000;

const promotion = z.strictObject({
  content: z.string(),
  release_id: z.string(),
  traffic_percent: z.int().min(0).max(100),
  previous_version: z.string().nullable(),
  version: z.string(),
  applied_at: z.string(),
});
/** What one idempotency key did. */
export type Promotion = z.infer<typeof promotion>;

const flag = z.looseObject({
  state: z.enum(['ENABLED', 'DISABLED']),
  variants: z.record(z.string(), z.json()),
  defaultVariant: z.string().nullish(),
  targeting: z.json().optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
});
export type ReleaseFlag = z.infer<typeof flag>;

const flagDocument = z.looseObject({
  flags: z.record(z.string(), z.json()),
  caseops: z.strictObject({ promotions: z.record(z.string(), promotion) }).optional(),
});
export type FlagDocument = z.infer<typeof flagDocument>;

export type ReadDocument =
  | { readonly ok: true; readonly document: FlagDocument }
  | { readonly ok: false; readonly message: string };

/** An empty text is a file without flags. */
export function parseFlagDocument(text: string): ReadDocument {
  if (text === '') return { ok: true, document: { flags: {} } };
  const json = parseStrictJson(text, { bytesMax: FLAG_FILE_BYTES_MAX });
  if (!json.ok) return { ok: false, message: `The flag file is not strict JSON: ${json.error.message}` };
  const parsed = flagDocument.safeParse(json.value);
  return parsed.success
    ? { ok: true, document: parsed.data }
    : { ok: false, message: `The flag file has another form: ${z.prettifyError(parsed.error)}` };
}

export type FoundFlag =
  | { readonly ok: true; readonly flag: ReleaseFlag | undefined }
  | { readonly ok: false; readonly message: string };

/** The flag of a release: `on` for the requests that get it, `off` for the rest. */
export function flagOf(document: FlagDocument, releaseId: string): FoundFlag {
  if (!Object.hasOwn(document.flags, releaseId)) return { ok: true, flag: undefined };
  const parsed = flag.safeParse(document.flags[releaseId]);
  if (!parsed.success) return { ok: false, message: `The flag ${releaseId} is no flagd flag.` };
  const { on, off } = parsed.data.variants;
  return on === true && off === false
    ? { ok: true, flag: parsed.data }
    : { ok: false, message: `The flag ${releaseId} needs the variants on: true and off: false.` };
}

/** Between the version that a flag states and the digest of what it says instead. */
export const EDITED = '-edited-';

/**
 * The version the file gives to a release; null when it has no flag. An edit past the version is a version of its own: what was
 * approved for `v3` is stale when somebody changed the flag and left `v3` standing.
 */
export function versionOf(found: ReleaseFlag | undefined): string | null {
  if (found === undefined) return null;
  const written = found.metadata?.['written'];
  const version = found.metadata?.['version'];
  const content = flagDigest(found);
  const stated = typeof version === 'string' && version !== '' ? version : '';
  if (stated !== '' && (written === undefined || written === content)) return stated;
  return `${stated}${EDITED}${content.slice('sha256:'.length, 'sha256:'.length + 12)}`;
}

/** The share of the traffic that the flag's fractional rule gives to the release; undefined when it has another rule. */
export function weightPercentOf(found: ReleaseFlag): number | undefined {
  const rule = fractional.safeParse(found.targeting);
  if (!rule.success) return undefined;
  const [[, on], [, off]] = rule.data.fractional;
  return found.state === 'ENABLED' && on + off === 100 ? on : undefined;
}

const fractional = z.strictObject({
  fractional: z.tuple([
    z.tuple([z.literal('on'), z.int().min(0).max(100)]),
    z.tuple([z.literal('off'), z.int().min(0).max(100)]),
  ]),
});

/** The same flag with the release at this share, one version further. Shares grow monotonically: who has it at 10 % keeps it at 25 %. */
export function promotedFlag(found: ReleaseFlag | undefined, trafficPercent: number): ReleaseFlag {
  const version = /^v(\d{1,9})/.exec(versionOf(found) ?? '')?.[1];
  const next: ReleaseFlag = {
    ...found,
    state: 'ENABLED',
    variants: found?.variants ?? { on: true, off: false },
    defaultVariant: 'off',
    targeting: {
      fractional: [
        ['on', trafficPercent],
        ['off', 100 - trafficPercent],
      ],
    },
  };
  const metadata = { ...found?.metadata, version: `v${version === undefined ? 1 : Number(version) + 1}` };
  return { ...next, metadata: { ...metadata, written: flagDigest(next) } };
}

/** The document with this flag and this promotion in it. */
export function withPromotion(
  document: FlagDocument,
  entry: { readonly key: string; readonly flag: ReleaseFlag; readonly promotion: Promotion },
): FlagDocument {
  const kept = Object.entries(document.caseops?.promotions ?? {}).slice(-(PROMOTION_COUNT_MAX - 1));
  return {
    ...document,
    flags: { ...document.flags, [entry.promotion.release_id]: z.json().parse(entry.flag) },
    caseops: { promotions: { ...Object.fromEntries(kept), [entry.key]: entry.promotion } },
  };
}

function flagDigest({ state, variants, defaultVariant, targeting }: ReleaseFlag): string {
  return digestOf({ state, variants, defaultVariant, targeting });
}
