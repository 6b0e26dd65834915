import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';
import { shapeFault } from './body-shape.js';

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const EMPTY = Buffer.alloc(0);

type Context = Parameters<Middleware<ApiState, object>>[0];

/** A path whose handler wants the bytes as they arrived. */
export interface RawPath {
  readonly path: string;
  readonly limitBytes: number;
  /** Pages of any origin may send it: nothing that a browser adds by itself permits anything there. */
  readonly fromAnyOrigin?: true;
  /** @throws Refusal for a request whose body is not worth reading, by its headers alone */
  readonly refuseUnread: (header: (name: string) => string) => void;
}

/**
 * Reads the body, 16 KiB at most, and parses it as JSON of a shape that is cheap to validate (decision 83, "Cost of one
 * caller").
 * @param rawPaths the paths that are read by other rules
 */
export function readBodies(rawPaths: readonly RawPath[]): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const raw = rawPaths.find(({ path }) => path === ctx.path);
    ctx.state.rawBody = WITH_BODY.has(ctx.method) ? await bytesOf(ctx, raw) : EMPTY;
    if (ctx.state.rawBody.length > 0 && raw === undefined) {
      refuseForeignTypes(ctx);
      ctx.state.body = parsed(ctx.state.rawBody);
    }
    await next();
  };
}

async function bytesOf(ctx: Context, raw: RawPath | undefined): Promise<Buffer> {
  const limit = raw?.limitBytes ?? requestLimits.bodyMaxBytes;
  try {
    raw?.refuseUnread((name) => ctx.get(name));
    return await getRawBody(ctx.req, { limit, length: ctx.get('Content-Length') || null });
  } catch (error) {
    // The unread rest of this request would be taken for the next one.
    ctx.set('Connection', 'close');
    if (error instanceof Refusal) throw error;
    if (isRawBodyError(error) && error.type === 'entity.too.large') {
      throw new Refusal('payload_too_large', `The body may have at most ${limit} bytes.`);
    }
    throw new Refusal('validation_failed', 'The body did not arrive whole. Send it again.');
  }
}

function isRawBodyError(error: unknown): error is getRawBody.RawBodyError {
  return error instanceof Error && 'type' in error;
}

function refuseForeignTypes(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding').toLowerCase();
  const charset = ctx.request.charset.toLowerCase();
  const readable = ['', 'identity'].includes(encoding) && ['', 'utf-8', 'utf8'].includes(charset);
  if (!readable || ctx.request.type.toLowerCase() !== 'application/json') {
    throw new Refusal('unsupported_media_type', 'Send the body as application/json in UTF-8, uncompressed.');
  }
}

function parsed(bytes: Buffer): unknown {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), refusePrototype);
  } catch {
    throw bodyRefusal('The body is not well-formed JSON.', 'must be well-formed JSON in UTF-8');
  }
  const fault = shapeFault(body);
  if (fault !== undefined) throw bodyRefusal(`The request is not right: body ${fault}.`, fault);
  return body;
}

function bodyRefusal(text: string, message: string): Refusal {
  return new Refusal('validation_failed', text, { fields: [{ field: 'body', message }] });
}

/** No honest client sends this name, and a copy made field by field would take it for the object's prototype. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('__proto__ is no field');
  return value;
}
