import Stripe from 'stripe';
import type { ProcessorEvent } from './processor.js';

/** Thrown for a webhook that is not provably the processor's: answer 400 and keep nothing of it. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
}

/** Thrown for a genuine event of the processor that can't be read: keep it for operators, and answer 200. */
export class OddEventError extends Error {
  override readonly name = 'OddEventError';
}

/** @throws WebhookSignatureError @throws OddEventError */
export type WebhookVerifier = (rawBody: Buffer, signatureHeader: string | undefined) => ProcessorEvent;

/**
 * The greatest age of a signed delivery, in seconds, against replays (docs.stripe.com/webhooks/signature). The SDK
 * checks the past alone. This service refuses the same distance into the future as well: a delivery signed for tomorrow
 * could be replayed until then.
 */
const toleranceS = 300;

/** The longest header that is read: a time and a few signatures, while secrets are rotated. */
const HEADER_MAX_CHARS = 1_000;

/**
 * Tells whether a header may be that of a signed delivery, before any of the delivery is read: it has a time that is
 * neither too old nor yet to come, and a signature. Only the bytes can prove the signature.
 * @param nowMs milliseconds since 1970
 */
export function mayBeSigned(header: string, nowMs: number): boolean {
  if (header.length > HEADER_MAX_CHARS || !/(^|,)v1=[0-9a-f]{64}(,|$)/.test(header)) return false;
  const seconds = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(header)?.[1]);
  return Math.abs(nowMs / 1000 - seconds) <= toleranceS;
}

/**
 * Makes the check that comes before every webhook. Several secrets are valid at once during a rotation.
 * @param config.secrets each as the processor shows it; at least one
 * @throws Error when a secret is missing, blank or contains white space: the SDK would take a blank one for a key
 */
export function createWebhookVerifier(config: { secrets: readonly string[] }): WebhookVerifier {
  if (config.secrets.length === 0) {
    throw new Error(
      'No webhook secret is configured. Set STRIPE_WEBHOOK_SECRETS to the endpoint’s signing secret.',
    );
  }
  if (config.secrets.some((secret) => secret === '' || /\s/.test(secret))) {
    throw new Error('A webhook secret is blank or contains white space. Correct STRIPE_WEBHOOK_SECRETS.');
  }
  return (rawBody, signatureHeader) => {
    // The SDK takes an empty header for a fault of the program; here it is a stranger's request.
    if (signatureHeader === undefined || signatureHeader === '') {
      throw new WebhookSignatureError('The request has no Stripe-Signature header.');
    }
    if (!(signedAtS(signatureHeader) <= Date.now() / 1000 + toleranceS)) {
      throw new WebhookSignatureError('The webhook is signed for a time that has not come yet.');
    }
    verify(rawBody, signatureHeader, config.secrets);
    return eventOf(parse(rawBody));
  };
}

/** Any failure of the check counts as a stranger's request; only a body that passes is known to be the processor's. */
function verify(rawBody: Buffer, header: string, secrets: readonly string[]): void {
  const { signature } = Stripe.webhooks;
  if (!signature) throw new Error('the SDK came without its check of signatures');
  let failure: unknown;
  for (const secret of secrets) {
    try {
      signature.verifyHeader(rawBody, header, secret, toleranceS);
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw new WebhookSignatureError(
    'The webhook is not signed with a secret of this endpoint, or is too old.',
    {
      cause: failure,
    },
  );
}

/** Returns the instant that the signature covers, in seconds: the last one, as the SDK reads it. */
function signedAtS(header: string): number {
  const instants = header.split(',').filter((item) => item.startsWith('t='));
  return Number.parseInt((instants.at(-1) ?? '').slice('t='.length), 10);
}

function parse(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString('utf8'));
  } catch (error) {
    throw new OddEventError('it is no JSON', { cause: error });
  }
}

function eventOf(body: unknown): ProcessorEvent {
  const event = readEvent(body);
  if (event === undefined) throw new OddEventError('it has no id, type, time or object');
  return event;
}

/** Reads an event as the processor writes it; undefined for what has no id, kind or object. */
export function readEvent(body: unknown): ProcessorEvent | undefined {
  if (!isRecord(body) || !isRecord(body['data']) || !isRecord(body['data']['object'])) return undefined;
  const { id, type, created, livemode, api_version: apiVersion } = body;
  if (typeof id !== 'string' || id === '' || typeof type !== 'string' || !isInstant(created))
    return undefined;
  return {
    id,
    kind: type,
    createdAt: new Date(created * 1000),
    livemode: livemode === true,
    apiVersion: typeof apiVersion === 'string' ? apiVersion : null,
    object: body['data']['object'],
  };
}

/** Tells whether a value is a number of seconds since 1970 that a date and a column can hold: up to the year 9999. */
function isInstant(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 253_402_300_800;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
