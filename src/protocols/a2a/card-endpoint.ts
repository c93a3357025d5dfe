/** Serves the card's own bytes: a card written by the SDK loses its signature. Source: SEAMS "Card"; A2A 1.0.1 §8.2. */
import type { RequestHandler } from 'express';
import { digestOfBytes } from '#kernel/digest.ts';

export const CARD_PATH = '/.well-known/agent-card.json';
const CACHE_S = 300;

/** GET and HEAD with ETag and 304. The card is public; it holds no secret. */
export function createCardEndpoint(card: string): RequestHandler {
  const etag = `"${digestOfBytes(card).slice('sha256:'.length)}"`;
  return (request, response) => {
    response.setHeader('etag', etag);
    response.setHeader('cache-control', `public, max-age=${CACHE_S}`);
    const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known.includes(etag) || known.includes('*')) {
      response.status(304).end();
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.status(200).end(request.method === 'HEAD' ? undefined : card);
  };
}
