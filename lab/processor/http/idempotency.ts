import { createHash } from 'node:crypto';
import { ApiError, invalidRequest } from './errors.js';
import { canonicalForm, type FormObject } from './form.js';
import type { Store } from '../store.js';
import type { IdempotencyRecord } from '../tables.js';

/** Keys are kept "at least 24 hours" (docs.stripe.com/api/idempotent_requests). */
const keptS = 24 * 3600;

export interface KeyedRequest {
  readonly key: string;
  readonly method: string;
  readonly path: string;
  readonly params: FormObject;
}

/** Remembers answers by key, and the keys whose requests run right now. */
export class Idempotency {
  readonly #inUse = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly now: () => number,
  ) {}

  /** Finds the kept answer to this request. @throws ApiError when the key belongs to another request, or is in use */
  find(request: KeyedRequest): IdempotencyRecord | undefined {
    if (request.key.length > 255) {
      throw invalidRequest('An idempotency key may have at most 255 characters.');
    }
    if (this.#inUse.has(request.key)) {
      throw new ApiError(409, {
        type: 'idempotency_error',
        code: 'idempotency_key_in_use',
        message: `Another request with the key ${request.key} is still running. Repeat this one in a moment.`,
      });
    }
    const record = this.store.find('idempotency_keys', request.key);
    if (record === undefined || record.created < this.now() - keptS) return undefined;
    const same =
      record.method === request.method &&
      record.path === request.path &&
      record.paramsHash === hashOf(request.params);
    if (same) return record;
    throw new ApiError(400, {
      type: 'idempotency_error',
      message: `The key ${request.key} was used for another request. Repeat that one unchanged, or take a new key.`,
    });
  }

  /** Holds the key while its request runs. @returns a function that frees it again */
  use(key: string): () => void {
    this.#inUse.add(key);
    return () => this.#inUse.delete(key);
  }

  /** Keeps an answer. Call it only inside the request's transaction, so that effect and answer are kept together. */
  keep(request: KeyedRequest, status: number, body: string): void {
    this.store.put('idempotency_keys', {
      id: request.key,
      created: this.now(),
      method: request.method,
      path: request.path,
      paramsHash: hashOf(request.params),
      status,
      body,
    });
  }
}

function hashOf(params: FormObject): string {
  return createHash('sha256').update(canonicalForm(params)).digest('hex');
}
