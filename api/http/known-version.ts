import { createHash } from 'node:crypto';
import type { ApiContext } from '../context.js';

const TAG_BYTES = 16;

/**
 * Tells whether the caller has this version of the answer already, by `If-None-Match`: then it is answered with 304 and
 * no body.
 * @param version all that the answer depends on, beside its URL; it must have been read before the answer itself is
 * @param keep who may keep the answer. By default the caches of a browser, which ask each time whether it still holds, and
 * no cache that others share
 */
export function isKnownVersion(ctx: ApiContext, version: unknown, keep = 'private, no-cache'): boolean {
  const text = JSON.stringify([ctx.path, ctx.querystring, version]);
  const hash = createHash('sha256').update(text).digest().subarray(0, TAG_BYTES);
  // Weak: it stands for what the answer says, and not for its bytes.
  const tag = `"${hash.toString('base64url')}"`;
  ctx.set('ETag', `W/${tag}`);
  ctx.set('Cache-Control', keep);
  ctx.vary(['Cookie', 'Authorization']);
  if (!names(ctx.get('If-None-Match'), tag)) return false;
  ctx.status = 304;
  return true;
}

/**
 * Tells whether the header names the tag, compared weakly (RFC 9110, section 13.1.2). Koa's `fresh` is no help: programs
 * that set the header by `fetch` send `Cache-Control: no-cache` with it, which it takes for a wish to have all anew.
 */
function names(header: string, tag: string): boolean {
  return header.split(',').some((each) => {
    const named = each.trim();
    return named === '*' || named.replace(/^W\//, '') === tag;
  });
}
