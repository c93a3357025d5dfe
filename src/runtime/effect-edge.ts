/** The HTTP edge of an effect world, on loopback: the product's own routes for approvals and effects. For drills. */
import type { RootGrant } from '#contracts/lease.ts';
import type { RunDesk } from '#ports/run-desk.ts';
import { createHttpEdge } from '#protocols/http/api.ts';
import { serveHttp } from '#protocols/http/serve-http.ts';

export interface EffectEdge extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
}

/** `grants`: the person behind each bearer token. Mints nothing and has no page. */
export async function serveEffectEdge(
  { desk }: { readonly desk: RunDesk },
  grants: Readonly<Record<string, RootGrant>>,
): Promise<EffectEdge> {
  const { fetch } = createHttpEdge({
    desk,
    authenticate: (token) => grants[token],
    token: () => Promise.resolve({ status: 404, headers: {}, body: '' }),
    jwks: () => ({ keys: [] }),
    assetsDirectory: '',
  });
  return serveHttp({ fetch, host: '127.0.0.1', port: 0 });
}
