import { randomBytes } from 'node:crypto';
import { readClock } from '../../adapters/postgres/clock.js';
import type { WebhookRow } from '../../adapters/postgres/rows/tables.js';
import type { DueEvent, NotedTry } from '../../adapters/postgres/webhooks/deliveries.js';
import type { Exchange } from '../../adapters/webhooks/sender.js';
import { signedHeaders } from '../../adapters/webhooks/signing.js';
import { presentEvent } from '../../domain/events/present.js';
import type { ActivityDeps } from '../deps.js';
import type { Tell } from '../heartbeat.js';

/** The last event that was taken, as the heartbeat holds it: it is not sent again when its row could not be written. */
export interface Sent {
  readonly sent?: { readonly round: number; readonly seq: number; readonly httpStatus: number };
}

/** What one delivery works with. */
interface Delivery {
  readonly due: DueEvent;
  /** whsec_…, the newest first. */
  readonly secrets: readonly string[];
  /** What the heartbeat of the attempt before told. */
  readonly sentBefore: Sent | undefined;
  readonly tell: Tell;
}

/** Sends an event to an endpoint. Any 2xx takes it. */
export async function deliver(
  deps: ActivityDeps,
  hook: WebhookRow,
  { due, secrets, sentBefore, tell }: Delivery,
): Promise<NotedTry> {
  const { event, line } = due;
  const noted = { event, type: event.type };
  const known = sentBefore?.sent;
  if (line === 'events' && known?.seq === event.seq && known.round === hook.round) {
    const tried = { line, result: 'success', random: 0 } as const;
    return { ...noted, tried, httpStatus: known.httpStatus, fault: null, durationMs: 0 };
  }
  const exchanged = await send(deps, hook, secrets, {
    id: event.id,
    body: JSON.stringify(presentEvent(event)),
  });
  const { status: httpStatus, fault, durationMs } = exchanged;
  const isTaken = httpStatus !== null && httpStatus >= 200 && httpStatus < 300;
  if (isTaken) tell({ sent: { round: hook.round, seq: event.seq, httpStatus } } satisfies Sent);
  const result = isTaken ? 'success' : resultOf(exchanged);
  return { ...noted, tried: { line, result, random: Math.random() }, httpStatus, fault, durationMs };
}

/**
 * Asks an endpoint whether it wants our messages: it is enabled once it answers 200 with the token, as
 * {"challenge": "…"}. Each try has a token of its own.
 */
export async function challenge(
  deps: ActivityDeps,
  hook: WebhookRow,
  secrets: readonly string[],
): Promise<NotedTry> {
  const token = randomBytes(24).toString('base64url');
  const type = 'webhook.challenge';
  const id = `challenge_${randomBytes(12).toString('base64url')}`;
  const createdAt = (await readClock(deps.webhookDb)).toISOString();
  const message = { id, type, entityId: hook.id, data: { challenge: token }, createdAt };
  const exchanged = await send(deps, hook, secrets, { id, body: JSON.stringify(message) });
  const { status: httpStatus, durationMs } = exchanged;
  const isAnswered = httpStatus === 200 && readToken(exchanged.body) === token;
  const fault = exchanged.fault ?? (httpStatus === 200 && !isAnswered ? 'challenge_not_answered' : null);
  const result = isAnswered ? 'success' : resultOf(exchanged);
  const tried = { line: 'challenge', result, random: Math.random() } as const;
  return { event: null, type, tried, httpStatus, fault, durationMs };
}

/** The signature carries the time of this try, not of the event: receivers refuse old ones. */
function send(
  { webhooks }: ActivityDeps,
  { url }: WebhookRow,
  secrets: readonly string[],
  message: { readonly id: string; readonly body: string },
): Promise<Exchange> {
  const headers = signedHeaders(secrets, { ...message, at: new Date() });
  return webhooks.send({ url, headers, body: message.body });
}

function resultOf({ status }: Exchange): 'failure' | 'gone' {
  return status === 410 ? 'gone' : 'failure';
}

function readToken(body: string): unknown {
  try {
    const answer: unknown = JSON.parse(body);
    return typeof answer === 'object' && answer !== null && 'challenge' in answer
      ? answer.challenge
      : undefined;
  } catch {
    return undefined;
  }
}
