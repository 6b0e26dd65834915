import { createHash } from 'node:crypto';
import { balanceAhead } from '../../../adapters/postgres/wallets/wallet-reads.js';
import { ledgerAhead } from '../../../adapters/postgres/ledger/ledger-reads.js';
import type { ReadAhead } from '../../../adapters/postgres/prepared.js';
import { rentalAhead } from '../../../adapters/postgres/rentals/rental-reads.js';
import { isId, type ApiKeyId, type UserId } from '../../../domain/ids.js';
import { requestLimits } from '../../../domain/requests/limits.js';

/** Whose a session or key was when it was last seen live, and whose rentals alone it sees. */
export interface Whose {
  readonly userId: UserId;
  readonly onlyOf: ApiKeyId | undefined;
}

/** Callers that are remembered; the one that was seen first is forgotten first. */
const REMEMBERED = 10_000;

/**
 * Remembers whose sessions and keys were, so that what a request reads can be sent along with the look-up of its caller
 * (decision 121, "Cost of a read"). It proves nothing: each request is still looked up, and what was read ahead is
 * handed out only for the user that the look-up has found.
 */
export class KnownCallers {
  readonly #callers = new Map<string, Whose>();

  /** @param credential what a request shows; only its hash is kept */
  get(credential: string): Whose | undefined {
    return this.#callers.get(hashOf(credential));
  }

  remember(credential: string, whose: Whose): void {
    this.#callers.set(hashOf(credential), whose);
    if (this.#callers.size <= REMEMBERED) return;
    const first = this.#callers.keys().next();
    if (first.done !== true) this.#callers.delete(first.value);
  }

  forget(credential: string): void {
    this.#callers.delete(hashOf(credential));
  }
}

function hashOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64');
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly querystring: string;
}

const RENTAL_PATH = '/v1/rentals/';

/** Makes what a request will read if it is still this caller's; undefined for all but the commonest reads. */
export function readAheadOf({ method, path, querystring }: Asked, whose: Whose): ReadAhead | undefined {
  if (method !== 'GET' || querystring !== '') return undefined;
  if (path === '/v1/billing/balance') return balanceAhead(whose.userId);
  if (path === '/v1/billing/ledger') return ledgerAhead(whose.userId, requestLimits.pageSizeDefault + 1);
  if (!path.startsWith(RENTAL_PATH)) return undefined;
  const id = path.slice(RENTAL_PATH.length);
  return isId('rent', id) ? rentalAhead(whose.userId, id, whose.onlyOf) : undefined;
}
