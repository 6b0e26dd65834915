import { createHash, createHmac } from 'node:crypto';
import {
  claimIdempotencyKey,
  findMadeUnderKey,
  recordIdempotentResponse,
  type KeyClaim,
  type KeyName,
} from '../../adapters/postgres/requests/idempotency-keys.js';
import type { Database } from '../../adapters/postgres/database.js';
import type { UserId } from '../../domain/ids.js';
import { requestLimits } from '../../domain/requests/limits.js';
import { Refusal, refusalStatus } from '../../domain/refusal.js';
import { callerOf, keyIdOf, type ApiContext } from '../context.js';
import { joi } from './fields.js';
import { fieldRefusal } from './validation.js';

/**
 * The Idempotency-Key of a request; undefined when it has none (decision 6, "Idempotent retries").
 * @throws Refusal validation_failed for another text, and for an empty one, because its sender counts on a safe retry
 */
export function idempotencyKeyOf(ctx: ApiContext): string | undefined {
  if (ctx.headers['idempotency-key'] === undefined) return undefined;
  const key = ctx.get('Idempotency-Key');
  if (key.length > requestLimits.idempotencyKeyMaxChars || !/^[\x20-\x7e]+$/.test(key)) {
    throw fieldRefusal(
      'Idempotency-Key',
      `Idempotency-Key must be 1 to ${requestLimits.idempotencyKeyMaxChars} printable ASCII characters`,
    );
  }
  return key;
}

/** The key of one request, and what stood under it when the request came. */
export interface ClaimedKey {
  readonly name: KeyName;
  readonly claim: KeyClaim;
}

/**
 * Commits the key of a request before its work begins. Each API key has Idempotency-Keys of its own; all sessions of a
 * user have theirs together.
 * @param request.body the validated request: a key stands for one body only
 * @param request.hashKey keys the hash of a body that holds secrets, which could be guessed by its hash otherwise
 * @param targetId the id of what a fresh request makes
 * @throws Refusal idempotency_conflict when the key came with another body
 */
export async function claimKey(
  ctx: ApiContext,
  db: Database,
  request: { userId: UserId; endpoint: string; body: unknown; hashKey?: string | undefined },
  key: string,
  targetId: string,
): Promise<ClaimedKey> {
  const name = nameOf(ctx, request, key);
  const claim = await claimIdempotencyKey(db, name, hashOf(request.body, request.hashKey), targetId);
  if (!claim.sameBody) {
    throw new Refusal(
      'idempotency_conflict',
      'You already used this Idempotency-Key with a different body. Use a new key for a new request.',
    );
  }
  return { name, claim };
}

function nameOf(
  ctx: ApiContext,
  { userId, endpoint }: { userId: UserId; endpoint: string },
  key: string,
): KeyName {
  const apiKeyId = keyIdOf(ctx);
  return { userId, endpoint: apiKeyId === undefined ? endpoint : `${endpoint} of ${apiKeyId}`, key };
}

/** The filter of a list by what a request of the caller with an Idempotency-Key has made. */
export const keyFilter = joi
  .string()
  .pattern(/^[\x20-\x7e]+$/, 'printable ASCII')
  .max(requestLimits.idempotencyKeyMaxChars)
  .description('Only what your request with this Idempotency-Key made in the last 24 hours: one, or none.');

/**
 * Finds what a request of the caller has made under a key, for a list that is filtered by it.
 * @returns its id, an id of nothing where nothing was made; undefined for a list without the filter
 */
export async function onlyMade(
  ctx: ApiContext,
  db: Database,
  endpoint: string,
  key: string | undefined,
): Promise<string | undefined> {
  if (key === undefined) return undefined;
  return (await findMadeUnderKey(db, nameOf(ctx, { userId: callerOf(ctx).userId, endpoint }, key))) ?? '';
}

/** An answer as it is recorded under a key: a body, or a refusal to be given again. */
export type RecordedAnswer =
  | { readonly body: unknown }
  | {
      readonly refused: Pick<Refusal, 'code' | 'message' | 'details'> & {
        /** Of the request that was refused first; the release before did not record it. */
        readonly requestId?: string;
      };
    };

/** What a request's outcome is recorded as. @param requestId the request's own */
export function recordedOf(outcome: object, requestId: string): RecordedAnswer {
  if (!(outcome instanceof Refusal)) return { body: outcome };
  const { code, message, details } = outcome;
  return { refused: { code, message, details, requestId } };
}

/**
 * Records the final answer about a target for replays: never a 5xx, nor a refusal that says "later".
 * @returns what stands under the key: this answer, or a twin's that was recorded first
 */
export async function recordAnswer(
  db: Database,
  key: ClaimedKey | undefined,
  targetId: string,
  answer: RecordedAnswer,
): Promise<RecordedAnswer> {
  if (!key) return answer;
  const status = 'refused' in answer ? refusalStatus[answer.refused.code] : 200;
  const standing = await recordIdempotentResponse(db, key.name, targetId, { status, body: answer });
  return (standing as RecordedAnswer | undefined) ?? answer;
}

/** Gives a recorded answer again, marked as a replay. @throws the recorded Refusal */
export function replayedAnswer(ctx: ApiContext, recorded: RecordedAnswer): object {
  ctx.set('Idempotent-Replayed', 'true');
  return givenAnswer(ctx, recorded);
}

/** Gives an answer in the bytes that every request with its key gets. @throws the recorded Refusal */
export function givenAnswer(ctx: ApiContext, answer: RecordedAnswer): object {
  if (!('refused' in answer)) return answer.body as object;
  const { code, message, details, requestId } = answer.refused;
  if (requestId !== undefined) ctx.state.answeredAs = requestId;
  throw new Refusal(code, message, details);
}

/** A hash that tells two bodies apart. @param key in base64, for a body that holds secrets */
export function hashOf(body: unknown, key?: string): Buffer {
  const hash = key === undefined ? createHash('sha256') : createHmac('sha256', Buffer.from(key, 'base64'));
  return hash.update(canonical(body)).digest();
}

/** Writes the same JSON whatever the order of the fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
