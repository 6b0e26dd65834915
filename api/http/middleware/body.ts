import type { Middleware } from 'koa';
import getRawBody from 'raw-body';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';
import { maxBytesOf } from '../openapi/document.js';
import { BodyBudget } from './body-budget.js';
import { clientOf } from './client-address.js';
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
 * Reads the body, 16 KiB at most and more where the route declares it, and parses it as JSON of a shape that is cheap to
 * validate (decision 83, "Cost of one caller"). What strangers send is bounded in all (decision 130, "Work for
 * strangers").
 * @param rawPaths the paths that are read by other rules
 * @param trustsProxy whether the addresses of clients are a proxy's word
 */
export function readBodies(rawPaths: readonly RawPath[], trustsProxy: boolean): Middleware<ApiState, object> {
  const budget = new BodyBudget({
    ofProcess: requestLimits.strangersBytes,
    ofAddress: trustsProxy ? null : requestLimits.strangersBytesOfAddress,
  });
  return async (ctx, next) => {
    const raw = rawPaths.find(({ path }) => path === ctx.path);
    ctx.state.rawBody = WITH_BODY.has(ctx.method) ? await bytesOf(ctx, raw, budget) : unread(ctx);
    if (ctx.state.rawBody.length > 0 && raw === undefined) {
      refuseForeignTypes(ctx);
      ctx.state.body = parsed(ctx.state.rawBody);
    }
    await next();
  };
}

/** A read has no body. Whoever sends one all the same does not keep the connection, on which it would be read. */
function unread(ctx: Context): Buffer {
  if (ctx.get('Transfer-Encoding') !== '' || lengthOf(ctx) > 0) ctx.set('Connection', 'close');
  return EMPTY;
}

/** The length that a body is said to have; NaN where it is not said. */
function lengthOf(ctx: Context): number {
  return Number.parseInt(ctx.get('Content-Length'), 10);
}

async function bytesOf(ctx: Context, raw: RawPath | undefined, budget: BodyBudget): Promise<Buffer> {
  const limit = raw?.limitBytes ?? limitOf(ctx);
  const length = lengthOf(ctx);
  if (length > limit) throw tooLarge(limit);
  if (length > 0 && raw === undefined) refuseForeignTypes(ctx);
  raw?.refuseUnread((name) => ctx.get(name));
  const read = (): Promise<Buffer> => whole(ctx, limit);
  if (ctx.state.caller !== undefined || length === 0) return read();
  return budget.read(clientOf(ctx.ip), Number.isNaN(length) ? limit : length, read);
}

function limitOf({ method, path }: Context): number {
  return maxBytesOf(method, path) ?? requestLimits.bodyMaxBytes;
}

async function whole(ctx: Context, limit: number): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { limit, length: ctx.get('Content-Length') || null });
  } catch (error) {
    if (isRawBodyError(error) && error.type === 'entity.too.large') throw tooLarge(limit);
    throw new Refusal('validation_failed', 'The body arrived incomplete. Send it again.');
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal('payload_too_large', `The body can have at most ${limit} bytes.`);
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
    throw bodyRefusal('The body is not valid JSON.', 'must be valid JSON in UTF-8');
  }
  const fault = shapeFault(body);
  if (fault !== undefined) throw bodyRefusal(`The request is invalid: body ${fault}.`, fault);
  return body;
}

function bodyRefusal(text: string, message: string): Refusal {
  return new Refusal('validation_failed', text, { fields: [{ field: 'body', message }] });
}

/** No honest client sends this name, and a copy made field by field would take it for the object's prototype. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('__proto__ is not a field');
  return value;
}
