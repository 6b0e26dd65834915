import type { Event } from './schema.js';

/** What a webhook gets: an event, or the question whether it wants to have them. */
export type WebhookMessage = Event | WebhookChallenge;

/** The first message of all: answer it with 200 and `{"challenge": message.data.challenge}`. */
export interface WebhookChallenge {
  readonly id: string;
  readonly type: 'webhook.challenge';
  /** The webhook's id. */
  readonly entityId: string;
  readonly data: { readonly challenge: string };
  readonly createdAt: string;
}

/** Why a message was not taken for one of ours. */
export type WebhookFault = 'no_signature' | 'too_old' | 'too_new' | 'wrong_signature' | 'not_a_message';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** The headers of a request: a `Headers`, or what Node gives. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** While a secret is rotated, each message has two signatures; more than this is nobody of ours. */
const SIGNATURES_MAX = 10;
const TOLERANCE_SECONDS = 300;

/**
 * Verifies a message to a webhook, as Standard Webhooks says: HMAC-SHA-256 by Web Crypto, which compares in constant
 * time.
 * @param body as it came: parsed and written again, it would be another text
 * @param secrets the webhook's secret, or several while one is replaced
 * @param options toleranceSeconds: how far its time may lie from now, 5 minutes by default
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: { readonly toleranceSeconds?: number; readonly now?: Date } = {},
): Promise<WebhookMessage> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = signaturesIn(headerOf(headers, 'webhook-signature'));
  if (id === undefined || timestamp === undefined || signatures.length === 0) {
    throw new WebhookVerificationError(
      'no_signature',
      'webhook-id, webhook-timestamp or webhook-signature is missing.',
    );
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const keys = await Promise.all(listOf(secrets).map(importSecret));
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const fits = keys.flatMap((key) =>
    signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
  );
  if (!(await Promise.all(fits)).includes(true)) {
    throw new WebhookVerificationError(
      'wrong_signature',
      'No signature matches: the secret or the body is different.',
    );
  }
  // Only now is the time anything that somebody with the secret has written.
  checkAge(timestamp, options);
  return readMessage(bytes);
}

/**
 * Signs a message as the service does: for tests of a receiver, and for whoever passes messages on.
 * @param at its time; default: now
 * @returns the three headers
 */
export async function signWebhook(
  body: string | Uint8Array,
  id: string,
  secrets: string | readonly string[],
  at = new Date(),
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const signatures = await Promise.all(
    listOf(secrets).map(async (secret) => {
      const signature = await crypto.subtle.sign('HMAC', await importSecret(secret), signed);
      return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
    }),
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function listOf(secrets: string | readonly string[]): readonly string[] {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError('a secret is required: you got it when you created the webhook');
  return list;
}

/** @throws TypeError without showing the secret */
function importSecret(secret: string) {
  const bytes = bytesOf(secret.trim().replace(/^whsec_/, ''));
  if (bytes === undefined || bytes.length === 0) {
    throw new TypeError('a secret is whsec_ and base64, as you got it when you created the webhook');
  }
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify']);
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'object' ? found.join(' ') : found;
}

function signaturesIn(text = ''): Uint8Array<ArrayBuffer>[] {
  return text
    .split(' ', SIGNATURES_MAX)
    .flatMap((part) => (part.startsWith('v1,') ? [bytesOf(part.slice('v1,'.length))] : []))
    .filter((bytes) => bytes !== undefined);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function checkAge(timestamp: string, options: { toleranceSeconds?: number; now?: Date }): void {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = new Date() } = options;
  const ageSeconds = now.getTime() / 1_000 - Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || ageSeconds > toleranceSeconds) {
    throw new WebhookVerificationError('too_old', 'The message is too old: someone may have sent it again.');
  }
  if (ageSeconds < -toleranceSeconds) {
    throw new WebhookVerificationError(
      'too_new',
      'The message is from the future: check this computer’s clock.',
    );
  }
}

function readMessage(bytes: Uint8Array): WebhookMessage {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof value === 'object' && value !== null && 'type' in value && 'data' in value) {
      return value as WebhookMessage;
    }
  } catch {
    // Told below.
  }
  throw new WebhookVerificationError('not_a_message', 'The body is not a message from the service.');
}
