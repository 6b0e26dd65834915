import * as declared from './describe.js';
import type { Step } from '../http/middleware/session.js';
import { register, serve, type Handler } from '../http/serve.js';
import type { Holder } from '../../adapters/postgres/accounts/holders.js';
import { readEventPage, type EventPage } from '../../adapters/postgres/events/event-reads.js';
import { presentEvent } from '../../domain/events/present.js';
import { Refusal } from '../../domain/refusal.js';
import { callerOf, onlyOf, type ApiContext, type ApiDeps, type ApiRouter, type Caller } from '../context.js';
import { readEventsQuery, readStreamQuery, resyncRefusal } from './query.js';
import { isOutOfRange } from './stream.js';

/** The feed of events, by pages and as a stream (decision 100, "Feed and stream"). */
export function eventRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listEvents, listEvents(deps));
  register(router, deps, declared.streamEvents, streamEvents(deps));
}

function listEvents(deps: ApiDeps): Handler<typeof declared.listEvents> {
  return async (ctx) => {
    const selection = readEventsQuery(ctx);
    const page = await readEventPage(deps.db, callerOf(ctx).userId, { ...selection, onlyOf: onlyOf(ctx) });
    return presentPage(page, selection.after);
  };
}

/** A page on read. @throws Refusal resync, when what comes after `after` is not kept */
export function presentPage(page: EventPage, after: number | undefined) {
  if (after !== undefined && isOutOfRange(after, page)) throw resyncRefusal(page);
  return { events: page.events.map(presentEvent), lastSeq: page.lookedAtSeq };
}

function streamEvents(deps: ApiDeps): Step {
  return async (ctx) => {
    refuseForeignPages(ctx, deps.settings.allowedOrigins);
    const start = readStreamQuery(ctx);
    if (ctx.method === 'HEAD') {
      beginStream(ctx);
      return;
    }
    const caller = callerOf(ctx);
    const holder = holderOf(caller);
    const request = { ...start, userId: caller.userId, holder, onlyOf: onlyOf(ctx) };
    await deps.streams.open(request, ctx.res, () => {
      beginStream(ctx);
      // From here on the stream writes to the response by itself, for as long as the client stays.
      ctx.respond = false;
      ctx.req.socket.setTimeout(0);
    });
    ctx.state.passTurn?.();
  };
}

/** What ends a caller's streams when it ends. */
export function holderOf(caller: Caller): Holder {
  return caller.kind === 'key'
    ? { kind: 'key', keyId: caller.keyId }
    : { kind: 'session', tokenHash: caller.tokenHash };
}

/** Refuses pages of foreign origins: the browser would send the cookie along, and hold one of the user's streams. */
export function refuseForeignPages(ctx: ApiContext, allowed: readonly string[]): void {
  const origin = ctx.get('Origin');
  if (origin === '' || allowed.includes(origin)) return;
  throw new Refusal('forbidden', 'Pages from this origin can’t open streams. Add it to the allowed origins.');
}

/** Sets the status and the headers of a stream: nothing between us and the client may keep or pack what it is told. */
export function beginStream(ctx: ApiContext): void {
  ctx.status = 200;
  ctx.set('Content-Type', 'text/event-stream');
  ctx.set('Cache-Control', 'no-store, no-transform');
  ctx.set('X-Accel-Buffering', 'no');
  ctx.set('Connection', 'close');
}
