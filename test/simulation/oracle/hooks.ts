import type { ToldHook } from '../users/told.js';
import type { Receipt } from '../world/receivers.js';
import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

interface EventRow {
  readonly id: string;
  readonly user_id: string;
  readonly seq: string;
  readonly type: string;
  readonly entity_id: string;
  readonly told_ms: string;
}

interface HookRow {
  readonly id: string;
  readonly state: string;
  readonly why: string | null;
  readonly line_ms: string | null;
  readonly waiting: readonly string[] | null;
}

/** How long what is about to be sent may take while nothing is disturbed, whatever other endpoints do. */
const SOON_MS = 90_000;
/** What may still be under way when an endpoint is removed or switched off: one go of its activity (decision 102). */
const UNDER_WAY_MS = 45_000;

/**
 * Decision 102: each event reaches each endpoint that wants it at least once, or waits for its next try; it is signed,
 * and its owner's alone; and no dead endpoint holds up a live one.
 */
export async function judgeHooks(evidence: Evidence): Promise<string[]> {
  const { ask, told: said } = evidence;
  const events = await ask<EventRow>(
    `select id, user_id, seq, type, entity_id, extract(epoch from sequenced_at) * 1000 as told_ms
       from events order by no`,
  );
  const rows = await ask<HookRow>(
    `select w.id, w.state, w.switched_off_why as why, extract(epoch from w.line_at) * 1000 as line_ms,
            (select array_agg(r.seq::text) from webhook_retries r
              where r.webhook_id = w.id and r.next_try_at > clock_ms() - interval '2 minutes') as waiting
       from webhooks w`,
  );
  const erased = await Erased.read(evidence);
  const living = said.hooks.filter(({ email }) => !erased.hasEmail(email));
  return living.flatMap((hook) => {
    const row = rows.find(({ id }) => id === hook.id);
    const own = events.filter(({ user_id: userId }) => userId === said.users.get(hook.email));
    if (row === undefined) return [`endpoint ${hook.id} was answered with 200, and is not there`];
    const found = [
      ...judgeMessages(hook, own),
      ...judgeDelivered(hook, row, own, evidence),
      ...judgeEnd(hook, row),
    ];
    return found.map((fault) => `endpoint ${hook.id} (${hook.receiver.manner}): ${fault}`);
  });
}

/** Each message is an event of the endpoint's owner that the endpoint wants, in its form, and signed. */
function judgeMessages(hook: ToldHook, own: readonly EventRow[]): string[] {
  return hook.receiver.receipts.flatMap((receipt) => {
    const message = JSON.parse(receipt.body) as Record<string, unknown>;
    const isUnsure = hook.unsure.some(({ fromMs, toMs }) => receipt.atMs >= fromMs && receipt.atMs <= toMs);
    const isUnsigned = receipt.isSigned === false && !isUnsure;
    const faults = told(isUnsigned, `${receipt.id} came without a signature by a known secret`);
    if (message['type'] === 'webhook.challenge') return faults;
    const event = own.find(({ id }) => id === receipt.id);
    if (event === undefined) return [...faults, `${receipt.id} is no event of its owner`];
    const isSame =
      message['id'] === event.id &&
      message['seq'] === Number(event.seq) &&
      message['type'] === event.type &&
      message['entityId'] === event.entity_id;
    return [
      ...faults,
      ...told(!isSame, `${receipt.id} was sent as ${receipt.body}`),
      ...told(!isWanted(hook, event), `it got ${event.type}, and does not want it`),
    ];
  });
}

function judgeDelivered(
  hook: ToldHook,
  row: HookRow,
  own: readonly EventRow[],
  evidence: Evidence,
): string[] {
  const { manner, receipts } = hook.receiver;
  if (hook.removingMs !== undefined || row.state !== 'enabled') return [];
  const isDead = ['silent', 'failing', 'garbage', 'gone'].includes(manner);
  // What a receiver that fails is told stands in its line, which pauses for ten minutes and more.
  if (isDead) return [];
  const wanted = own.filter((event) => Number(event.told_ms) > hook.madeMs && isWanted(hook, event));
  const inTime = wanted.filter(({ told_ms: ms }) => Number(ms) < evidence.nowMs - SOON_MS);
  return inTime.flatMap((event) => {
    const taken = receipts.filter((one) => one.id === event.id && isTaken(one));
    const isWaiting =
      row.waiting?.includes(event.seq) === true || Number(row.line_ms) > evidence.nowMs - SOON_MS;
    if (taken.length === 0)
      return told(
        !isWaiting,
        `it never took ${event.id} (${event.type}, ${event.seq}), which waits for nothing`,
      );
    const firstMs = Math.min(...taken.map(({ atMs }) => atMs));
    const waitedMs = firstMs - Number(event.told_ms);
    const isCalm = Number(event.told_ms) > evidence.calmSinceMs + SOON_MS && manner === 'good';
    return told(isCalm && waitedMs > SOON_MS, `it got ${event.id} (${event.type}) only after ${waitedMs} ms`);
  });
}

/** Nothing is sent to an endpoint that is removed, or that has answered 410. */
function judgeEnd(hook: ToldHook, row: HookRow): string[] {
  const { receipts, manner } = hook.receiver;
  const goneMs = Math.min(
    Infinity,
    ...receipts.filter(({ status }) => status === 410).map(({ atMs }) => atMs),
  );
  const lastMs = Math.min(goneMs, hook.removedMs ?? Infinity) + UNDER_WAY_MS;
  const after = receipts.filter(({ atMs }) => atMs > lastMs);
  const isGone = goneMs !== Infinity && hook.removingMs === undefined;
  const isLive = ['good', 'slow'].includes(manner) && hook.removingMs === undefined;
  return [
    ...told(isLive && hook.unsure.length === 0 && row.state !== 'enabled', `it is ${row.state}`),
    ...told(after.length > 0, `it got ${after.length} messages after its end`),
    ...told(isGone && row.why !== 'gone', `it answered 410, and is ${row.state}`),
    ...told(
      manner === 'garbage' && row.state === 'enabled',
      'it never answered its challenge, and is enabled',
    ),
  ];
}

function isTaken({ status }: Receipt): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Decision 102: without types all but sessions, passkeys and keys; a ping its own alone; a gap everybody. */
function isWanted({ id, types }: ToldHook, event: EventRow): boolean {
  if (event.type === 'webhook.ping') return event.entity_id === id;
  if (event.type === 'feed.resync') return true;
  return types.length === 0 ? !/^(session|passkey|api_key)\./.test(event.type) : types.includes(event.type);
}
