/**
 * Trust in an agent card: a JWS (A2A 1.0.1 §8.4) over its canonical form by a key that is pinned here. `jku` and embedded keys are
 * never followed: who could swap the card could swap them. Source: SEAMS §3.
 */
import { CaseOpsError } from '#contracts/error.ts';
import { parseStrictJson } from '#kernel/strict-json.ts';
import type { PublicJwk, Signer } from '#ports/signer.ts';
import { encodeBase64Url } from './base64url.ts';
import { canonicalCard } from './card-canonical.ts';
import { isObject, readCompactJws } from './compact-jws.ts';
import { thumbprint, verifier } from './es256.ts';

export type CardJson = Readonly<Record<string, unknown>>;

export type CardVerdict =
  | { readonly ok: true; readonly card: CardJson; readonly kid: string }
  | { readonly ok: false; readonly code: CardRefusalCode; readonly message: string };

type CardRefusalCode = 'card_json' | 'card_member' | 'card_unsigned' | 'card_key' | 'card_header' | 'card_signature';

const CARD_BYTES_MAX = 1_048_576;
const SIGNATURE_COUNT_MAX = 8;

/** The card with one more signature. Throws CaseOpsError (ERR_CONFIG) when a member is unknown and so could not be covered. */
export function signCard(card: CardJson, signer: Signer): CardJson {
  const canonical = canonicalCard(card);
  if (!canonical.ok) {
    throw new CaseOpsError(
      'ERR_CONFIG',
      `Expected a card with members of A2A 1.0 only; ${canonical.unknown} is none.`,
      {
        at: 'authority',
      },
    );
  }
  const { protectedHeader, signature } = signDetached(canonical.text, signer);
  const before = Array.isArray(card['signatures']) ? (card['signatures'] as unknown[]) : [];
  return { ...card, signatures: [...before, { protected: protectedHeader, signature }] };
}

/**
 * The card if one of its signatures is by a pinned key, else why not; of several refusals, that of the signature that came nearest.
 * A signature by a key that is not pinned neither helps nor harms.
 */
export function verifyCard(text: string | Uint8Array, pinnedKeys: readonly PublicJwk[]): CardVerdict {
  const parsed = parseStrictJson(text, { bytesMax: CARD_BYTES_MAX });
  if (!parsed.ok || !isObject(parsed.value)) return no('card_json', 'Expected an agent card as strict JSON.');
  const card = parsed.value;
  const canonical = canonicalCard(card);
  if (!canonical.ok)
    return no('card_member', `Expected members of A2A 1.0 only; ${canonical.unknown.slice(0, 200)} is none.`);
  const signatures = Array.isArray(card['signatures']) ? (card['signatures'] as unknown[]) : [];
  if (signatures.length === 0 || signatures.length > SIGNATURE_COUNT_MAX) {
    return no('card_unsigned', `Expected 1 to ${SIGNATURE_COUNT_MAX} signatures; the card has ${signatures.length}.`);
  }
  const keys = new Map(pinnedKeys.map((key) => [thumbprint(key), key]));
  const payload = encodeBase64Url(canonical.text);
  const verdicts = signatures.map((signature) => checkSignature(signature, payload, keys));
  for (const verdict of verdicts) if (verdict.ok) return { ok: true, card, kid: verdict.kid };
  const worst = (['card_signature', 'card_header', 'card_key'] as const).find((code) =>
    verdicts.some((verdict) => !verdict.ok && verdict.code === code),
  );
  return no(
    worst ?? 'card_key',
    'Expected a signature by a pinned key over exactly this card; none of its signatures is.',
  );
}

type SignatureVerdict =
  | { readonly ok: true; readonly kid: string }
  | { readonly ok: false; readonly code: CardRefusalCode };

function checkSignature(entry: unknown, payload: string, keys: ReadonlyMap<string, PublicJwk>): SignatureVerdict {
  const [head, signature] = isObject(entry) ? [entry['protected'], entry['signature']] : [];
  if (typeof head !== 'string' || typeof signature !== 'string') return { ok: false, code: 'card_header' };
  const jws = readCompactJws(`${head}.${payload}.${signature}`);
  const kid = jws?.header['kid'];
  const key = typeof kid === 'string' ? keys.get(kid) : undefined;
  if (jws === undefined) return { ok: false, code: 'card_header' };
  if (key === undefined || typeof kid !== 'string') return { ok: false, code: 'card_key' };
  const { header } = jws;
  const lawful = header['alg'] === 'ES256' && (header['typ'] ?? 'JOSE') === 'JOSE' && header['crit'] === undefined;
  if (!lawful) return { ok: false, code: 'card_header' };
  const held = verifier.verify(key, jws.signingInput, jws.signature);
  return held ? { ok: true, kid } : { ok: false, code: 'card_signature' };
}

/** The signer signs JSON objects; the canonical text is one, and JSON.stringify would not keep its bytes. */
function signDetached(text: string, signer: Signer): { readonly protectedHeader: string; readonly signature: string } {
  const jws = signer.signText({ typ: 'JOSE', kid: signer.thumbprint }, text);
  const [protectedHeader = '', , signature = ''] = jws.split('.');
  return { protectedHeader, signature };
}

function no(code: CardRefusalCode, message: string): CardVerdict {
  return { ok: false, code, message };
}
