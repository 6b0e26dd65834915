import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import { Refusal } from '../../domain/refusal.js';
import type { ApiState } from '../context.js';

const LIMIT_BYTES = 1024 * 1024;
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const EMPTY = Buffer.alloc(0);

/**
 * Reads the body, at most 1 MiB, and parses it as JSON.
 * @param rawPaths paths whose handlers want the bytes as they arrived, whatever they are
 */
export function readBodies(rawPaths: readonly string[]): Middleware<ApiState, object> {
  return async (ctx, next) => {
    ctx.state.rawBody = WITH_BODY.has(ctx.method) ? await bytesOf(ctx) : EMPTY;
    if (ctx.state.rawBody.length > 0 && !rawPaths.includes(ctx.path)) {
      refuseForeignTypes(ctx);
      ctx.state.body = parsed(ctx.state.rawBody);
    }
    await next();
  };
}

type Context = Parameters<Middleware<ApiState, object>>[0];

async function bytesOf(ctx: Context): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit: LIMIT_BYTES, length: ctx.get('Content-Length') || null });
  } catch (error) {
    // What was not read of this request would be taken for the next one.
    ctx.set('Connection', 'close');
    if (isRawBodyError(error) && error.type === 'entity.too.large') {
      throw new Refusal('payload_too_large', `The body may have at most ${LIMIT_BYTES} bytes.`);
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
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes), refusePrototype);
  } catch {
    throw new Refusal('validation_failed', 'The body is not well-formed JSON.', {
      fields: [{ field: 'body', message: 'must be well-formed JSON in UTF-8' }],
    });
  }
}

/** No honest client sends this name, and a copy made field by field would take it for the object's prototype. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('__proto__ is no field');
  return value;
}
