import type { Transaction } from '../../adapters/postgres/database.js';
import { usedCentsOf } from '../../adapters/postgres/rentals/facts.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import { findHardBudget } from '../../adapters/postgres/spending/budgets.js';
import { findCap, type Lock } from '../../adapters/postgres/spending/caps.js';
import { findPots } from '../../adapters/postgres/spending/pots.js';
import type { ApiKeyId, UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { Refusal } from '../../domain/refusal.js';
import { limitOfMachine } from '../../domain/rentals/open.js';
import { refuseUnreserved, type AnyPot, type ChangedLimits } from '../../domain/spending/pots.js';

/**
 * Finds the spend limit that a rental is opened with, under the lock of its wallet (decision 109, "Caps and budgets"),
 * and refuses what the wallet can't pay for.
 * The sums of a key and of a budget change under that lock alone, so what fits before the purchase fits afterwards,
 * unless the key was revoked meanwhile, or its cap or the budget was lowered.
 * @param funds the machine's price, and what the wallet has available
 * @param lock `locked` right before the rental is inserted
 * @returns cents; null without a limit
 * @throws Refusal why the key is not alive; insufficient_balance, cap_reserved, budget_reserved
 */
export async function limitFor(
  trx: Transaction,
  request: RentalRequest,
  { pricePerHourCents, availableCents }: { pricePerHourCents: number; availableCents: number },
  lock: Lock,
): Promise<number | null> {
  const pots = await findPots(trx, request, lock);
  return limitOfMachine(request, pricePerHourCents, { availableCents, pots });
}

/** Takes what a rental may cost out of the cap of its key, in the transaction that inserts the rental. */
export async function reserve(
  trx: Transaction,
  apiKeyId: ApiKeyId | undefined,
  limitCents: number | null,
): Promise<void> {
  if (apiKeyId !== undefined) await move(trx, apiKeyId, { reserved: limitCents ?? 0, spent: 0 });
}

/**
 * Reserves what a new limit adds, or gives back what it takes away, under the locks of the wallet and the rental.
 * @param limits in force before, and after the change, which may ask for another time alone
 * @returns the refusal, which changed nothing; undefined when it is done
 */
export async function reserveChange(
  trx: Transaction,
  rental: Pick<RentalRow, 'user_id' | 'api_key_id' | 'price_per_hour_cents' | 'running_at'>,
  limits: ChangedLimits,
): Promise<Refusal | undefined> {
  const { user_id: userId, api_key_id: apiKeyId } = rental;
  const [before, after] = [limits.before.maxSpendCents, limits.after.maxSpendCents];
  if (before === after && !limits.isTimeAlone) return undefined;
  try {
    const pots = await lockPots(trx, userId, apiKeyId);
    const facts = { pricePerHourCents: rental.price_per_hour_cents, runningAt: rental.running_at };
    refuseUnreserved(facts, limits, pots);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  if (apiKeyId !== null) await move(trx, apiKeyId, { reserved: (after ?? 0) - (before ?? 0), spent: 0 });
  return undefined;
}

/**
 * Gives back what a rental did not use, in the transaction that settles it: what it cost is spent from now on.
 * @param settled as it was settled
 */
export async function release(trx: Transaction, settled: RentalRow): Promise<void> {
  const { api_key_id: apiKeyId, max_spend_cents: limit } = settled;
  if (apiKeyId === null) return;
  await move(trx, apiKeyId, { reserved: -(limit ?? 0), spent: usedCentsOf(settled) });
}

/** A key that was revoked keeps its cap: its rentals may be changed by their owner. */
async function lockPots(trx: Transaction, userId: UserId, apiKeyId: ApiKeyId | null): Promise<AnyPot[]> {
  const key =
    apiKeyId === null ? undefined : await trx('api_keys').where({ id: apiKeyId }).forNoKeyUpdate().first();
  const cap = key && (await findCap(trx, key));
  const budget = await findHardBudget(trx, userId, 'locked', cap?.apiKeyId);
  return [cap, budget].filter((pot) => pot !== undefined);
}

async function move(
  trx: Transaction,
  apiKeyId: ApiKeyId,
  { reserved, spent }: { readonly reserved: number; readonly spent: number },
): Promise<void> {
  await trx.raw(
    `update api_keys set reserved_cents = reserved_cents + :reserved, spent_cents = spent_cents + :spent where id = :apiKeyId`,
    { apiKeyId, reserved, spent },
  );
}
