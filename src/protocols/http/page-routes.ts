/**
 * The read-only page: a list of runs, and one run with its answer and the chain behind each sentence. Works without script. A browser
 * signs in once by a link with `?key=`, which becomes a cookie and leaves the address. Source: SURFACES "Console", ui/1-run-answer.
 */
import { CaseOpsError } from '#contracts/error.ts';
import type { RootGrant } from '#contracts/lease.ts';
import { Hono, type Context } from 'hono';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HttpEdge } from './api.ts';
import { type Markup } from './html.ts';
import { problemOf } from './problem.ts';
import { renderDocument, renderProblem } from './render-document.ts';
import { renderRun } from './render-run.ts';
import { renderRuns } from './render-runs.ts';
import { renderWhy } from './render-why.ts';

const COOKIE = 'caseops';
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;
const ASSETS: ReadonlyMap<string, string> = new Map([
  ['tokens.css', 'text/css; charset=utf-8'],
  ['console.css', 'text/css; charset=utf-8'],
  ['page.css', 'text/css; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
]);

export function pageRoutes(edge: HttpEdge): Hono {
  const page = new Hono();
  const icons = readFile(join(edge.assetsDirectory, 'icons.svg'), 'utf8');
  // A page that is never opened must not fail the process when the sheet is missing.
  icons.catch(() => undefined);
  page.get('/', (c) => show(c, { edge, icons, make: (grant) => runsPage(edge, grant) }));
  page.get('/runs/:id', (c) => show(c, { edge, icons, make: (grant) => runPage(edge, grant, c) }));
  page.get('/runs/:id/why', (c) => whyPanel(edge, c));
  page.get('/assets/:name', async (c) => {
    const name = c.req.param('name');
    const type = ASSETS.get(name);
    if (type === undefined) return c.notFound();
    const headers = { ...SECURITY_HEADERS, 'content-type': type, 'cache-control': 'no-cache' };
    return new Response(await readFile(join(edge.assetsDirectory, name)), { headers });
  });
  return page;
}

interface MadePage {
  readonly title: string;
  readonly body: Markup;
  readonly live?: boolean;
}

interface Showing {
  readonly edge: HttpEdge;
  readonly icons: Promise<string>;
  readonly make: (grant: RootGrant) => Promise<MadePage>;
}

/** A whole document for who is signed in; a failure is a document too. */
async function show(c: Context, { edge, icons, make }: Showing): Promise<Response> {
  const signIn = signedIn(c);
  if (signIn instanceof Response) return signIn;
  const grant = signIn === undefined ? undefined : await edge.authenticate(signIn);
  try {
    if (grant === undefined) {
      throw new CaseOpsError(
        'ERR_UNAUTHENTICATED',
        'Open the link that the command line printed: it signs this browser in.',
        { at: 'page' },
      );
    }
    return respond(renderDocument({ ...(await make(grant)), icons: await icons, who: grant.sub }), 200);
  } catch (error) {
    const problem = problemOf(error, c.req.path);
    const parts = { title: problem.title, body: renderProblem(problem), icons: await icons, who: grant?.sub ?? '' };
    return respond(renderDocument(parts), problem.status);
  }
}

async function runsPage({ desk }: HttpEdge, grant: RootGrant): Promise<MadePage> {
  const runs = await desk.list(grant, { limit: 50, before: undefined, result: undefined, state: undefined });
  return { title: 'Runs', body: renderRuns(runs) };
}

async function runPage({ desk }: HttpEdge, grant: RootGrant, c: Context): Promise<MadePage> {
  const run = await desk.view(grant, c.req.param('id') ?? '');
  const wanted = c.req.query('claim');
  const selected = run.claims.find((claim) => claim.key === wanted || claim.claimId === wanted) ?? run.claims[0];
  const why = selected === undefined ? undefined : (await desk.why(grant, run.runId, selected.claimId))[0];
  const live = run.state !== 'ended' && run.state !== 'blocked';
  return { title: run.statement.text, body: renderRun({ run, selected, why }), live };
}

/** The Why panel alone, for the script that swaps it. */
async function whyPanel({ desk, authenticate }: HttpEdge, c: Context): Promise<Response> {
  const grant = await authenticate(cookieOf(c) ?? '');
  try {
    if (grant === undefined) throw new CaseOpsError('ERR_UNAUTHENTICATED', 'Sign in again.', { at: 'page' });
    const run = await desk.view(grant, c.req.param('id') ?? '');
    const [why] = await desk.why(grant, run.runId, c.req.query('claim'));
    const selected = run.claims.find((claim) => claim.claimId === why?.claimId);
    if (why === undefined || selected === undefined) {
      throw new CaseOpsError('ERR_NOT_FOUND', 'There is no such sentence.', { at: 'page' });
    }
    return respond(renderWhy({ run, selected, why }), 200);
  } catch (error) {
    const problem = problemOf(error, c.req.path);
    return respond(renderProblem(problem), problem.status);
  }
}

function respond(body: Markup, status: number): Response {
  return new Response(body.markup, {
    status,
    headers: { ...SECURITY_HEADERS, 'content-type': 'text/html; charset=utf-8' },
  });
}

/** The token of this browser; a redirect when it has just come in by `?key=`. */
function signedIn(c: Context): string | undefined | Response {
  const key = c.req.query('key');
  if (key === undefined) return cookieOf(c);
  const url = new URL(c.req.url);
  url.searchParams.delete('key');
  const headers = {
    location: `${url.pathname}${url.search}`,
    'set-cookie': `${COOKIE}=${encodeURIComponent(key)}; Path=/; HttpOnly; SameSite=Strict`,
    ...SECURITY_HEADERS,
  };
  return new Response(null, { status: 303, headers });
}

function cookieOf(c: Context): string | undefined {
  const found = new RegExp(`(?:^|;\\s*)${COOKIE}=([^;]+)`).exec(c.req.header('cookie') ?? '')?.[1];
  return found === undefined ? undefined : decodeURIComponent(found);
}
