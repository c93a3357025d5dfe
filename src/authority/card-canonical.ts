/**
 * The canonical form of an A2A agent card (A2A 1.0.1 §8.4.1), on the JSON as it travels: `signatures` is left out, required and
 * explicitly set optional members stay, other members with their default value are dropped, and one that the table does not know
 * makes the card unsignable, since it could not be covered. Source: SEAMS §3; the members are those of the protocol's `AgentCard`.
 */
import { canonicalText } from '#kernel/canonical.ts';
import { isObject } from './compact-jws.ts';

export type CanonicalCard =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly unknown: string };

/** `keep`: required, or presence is explicit. `drop`: its default value is the same as its absence. */
type Presence = 'keep' | 'drop';
interface Member {
  readonly presence: Presence;
  /** Members of the object, or of each object in the list; undefined: kept as it is. */
  readonly of?: Table;
}
type Table = Readonly<Record<string, Member>>;

const keep: Member = { presence: 'keep' };
const drop: Member = { presence: 'drop' };

const requirement: Table = { schemes: drop };
const extension: Table = { uri: drop, description: drop, required: drop, params: keep };
const card: Table = {
  name: keep,
  description: keep,
  version: keep,
  documentationUrl: keep,
  iconUrl: keep,
  defaultInputModes: keep,
  defaultOutputModes: keep,
  supportedInterfaces: {
    presence: 'keep',
    of: { url: keep, protocolBinding: keep, protocolVersion: keep, tenant: drop },
  },
  provider: { presence: 'keep', of: { url: keep, organization: keep } },
  capabilities: {
    presence: 'keep',
    of: {
      streaming: keep,
      pushNotifications: keep,
      extendedAgentCard: keep,
      extensions: { presence: 'drop', of: extension },
    },
  },
  securitySchemes: drop,
  securityRequirements: { presence: 'drop', of: requirement },
  skills: {
    presence: 'keep',
    of: {
      id: keep,
      name: keep,
      description: keep,
      tags: keep,
      examples: drop,
      inputModes: drop,
      outputModes: drop,
      securityRequirements: { presence: 'drop', of: requirement },
    },
  },
};

/** `unknown` is the path of the first member outside the table, or `card` when the JSON is no card at all. */
export function canonicalCard(json: unknown): CanonicalCard {
  if (!isObject(json)) return { ok: false, unknown: 'card' };
  const { signatures: _signatures, ...rest } = json;
  const unknown = firstUnknown(rest, card, 'card');
  if (unknown !== undefined) return { ok: false, unknown };
  const text = canonicalText(withoutDefaults(rest, card));
  return text === undefined ? { ok: false, unknown: 'card' } : { ok: true, text };
}

function firstUnknown(value: unknown, table: Table, at: string): string | undefined {
  if (Array.isArray(value)) return first(value, (item, index) => firstUnknown(item, table, `${at}.${index}`));
  if (!isObject(value)) return undefined;
  return first(Object.entries(value), ([name, inner]) => {
    const member = Object.hasOwn(table, name) ? table[name] : undefined;
    if (member === undefined) return `${at}.${name}`;
    return member.of === undefined ? undefined : firstUnknown(inner, member.of, `${at}.${name}`);
  });
}

function withoutDefaults(value: unknown, table: Table): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutDefaults(item, table));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([name, inner]) => {
    const member = table[name];
    // In the protocol's JSON mapping null is absence.
    if (inner === null || (member?.presence === 'drop' && isDefault(inner))) return [];
    return [[name, member?.of === undefined ? inner : withoutDefaults(inner, member.of)] as const];
  });
  return Object.fromEntries(kept);
}

function isDefault(value: unknown): boolean {
  if (value === '' || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

function first<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
