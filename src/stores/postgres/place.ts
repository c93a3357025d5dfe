/** A database's address: how it is connected to, and how messages name it, without user and password. */
import { CaseOpsError } from '#contracts/error.ts';

export interface Place {
  /** For the driver only; holds the password. */
  readonly url: string;
  /** `host:port/database`, for messages. */
  readonly name: string;
}

const PORT_DEFAULT = '5432';

/** Throws ERR_CONFIG for what is no Postgres URL; the message does not repeat it. */
export function placeOf(url: string): Place {
  if (!URL.canParse(url)) throw refusal();
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== 'postgres:' && protocol !== 'postgresql:') throw refusal();
  const database = decodeURIComponent(pathname.slice(1));
  return { url, name: `postgres ${hostname}:${port === '' ? PORT_DEFAULT : port}/${database}` };
}

/** The same address with settings for each of its connections, such as `-c role=…`. */
export function withSettings(place: Place, settings: Readonly<Record<string, string>>): string {
  const url = new URL(place.url);
  const given = url.searchParams.get('options');
  const ours = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  url.searchParams.set('options', [...(given === null ? [] : [given]), ...ours].join(' '));
  return url.href;
}

function refusal(): CaseOpsError {
  const message =
    'The url of the Postgres store is no Postgres URL; expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, as a secret.';
  return new CaseOpsError('ERR_CONFIG', message, { at: 'store', retryable: false });
}
