import type { BudgetNow, BudgetSettings, BudgetUse } from '../../adapters/postgres/spending/budgets.js';
import { countedOf, usedCentsOf } from '../../adapters/postgres/rentals/facts.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import type { ApiKeyRow } from '../../adapters/postgres/rows/tables.js';
import type { ApiKeyId } from '../../domain/ids.js';
import {
  capOfWish,
  percentsReached,
  refuseUnlimitedBudget,
  shareOfMonth,
  type AnyPot,
  type BudgetPot,
  type CapPot,
} from '../../domain/spending/pots.js';
import type { Account } from './account.js';
import type { World } from './world.js';

/** How the budget of an account stands, as the service counts it (decision 109, "Caps and budgets"). */
export function readBudget(world: World, account: Account): BudgetNow {
  return { settings: account.budget, use: useOf(world, account) };
}

/** Sets the budget. @throws Refusal budget_reserved for a hard one while a rental has no limit */
export function saveBudget(world: World, account: Account, settings: BudgetSettings): BudgetNow {
  const use = useOf(world, account);
  refuseUnlimitedBudget(settings, use);
  account.budget = settings;
  return { settings, use };
}

/** Tells which shares of the budget are spent, once a month each. The service looks each minute, the mock at each tick. */
export function tellBudget(world: World, account: Account): void {
  const { monthlyCents } = account.budget;
  if (monthlyCents === null) return;
  const { month, spentCents } = useOf(world, account);
  const { id: userId } = account.user;
  for (const percent of percentsReached(spentCents, monthlyCents)) {
    const share = `${month} ${percent}`;
    if (account.budgetTold.has(share)) continue;
    account.budgetTold.add(share);
    world.events.tell(userId, 'budget.reached', userId, { percent, month, spentCents, monthlyCents });
  }
}

/** Sets the cap of a key, as the service does. @throws Refusal cap_reserved */
export function setCap(account: Account, row: ApiKeyRow, capCents: number | null): void {
  const unlimited = openOf(account, row.id)
    .filter(({ max_spend_cents: limit }) => limit === null)
    .map(({ id: rentalId }) => ({ rentalId }));
  const { spent_cents: spentCents, reserved_cents: reservedCents } = countKey(account, row);
  row.spend_cap_cents = capOfWish(capCents, { apiKeyId: row.id, spentCents, reservedCents, unlimited });
}

/** Counts what the rentals of a key have cost by now, and may still cost. */
export function countKey(account: Account, row: ApiKeyRow): ApiKeyRow {
  const own = account.rentals.filter(({ row: rental }) => rental.api_key_id === row.id);
  row.spent_cents = own.reduce((sum, { row: rental }) => sum + usedCentsOf(rental), 0);
  row.reserved_cents = openOf(account, row.id).reduce((sum, rental) => sum + mayStillCost(rental), 0);
  return row;
}

function mayStillCost(row: RentalWithHealth): number {
  return Math.max(0, (row.max_spend_cents ?? 0) - usedCentsOf(row));
}

function openOf({ rentals }: Account, keyId: ApiKeyId): RentalWithHealth[] {
  return rentals.map(({ row }) => row).filter((row) => row.api_key_id === keyId && row.settled_at === null);
}

/** The sums that a rental must fit into: the cap of its key, and a hard budget. */
export function potsOf(world: World, account: Account, apiKeyId: ApiKeyId | null = null): AnyPot[] {
  const cap = apiKeyId === null ? undefined : capOf(account, apiKeyId);
  return [cap, budgetOf(world, account, cap?.apiKeyId)].filter((pot) => pot !== undefined);
}

function capOf(account: Account, apiKeyId: ApiKeyId): CapPot | undefined {
  const found = account.apiKeys.find(({ row }) => row.id === apiKeyId);
  const limitCents = found?.row.spend_cap_cents ?? null;
  if (!found || limitCents === null) return undefined;
  const { spent_cents: spentCents, reserved_cents: reservedCents } = countKey(account, found.row);
  const holders = openOf(account, apiKeyId)
    .map((rental) => ({ rentalId: rental.id, reservedCents: mayStillCost(rental) }))
    .filter((holder) => holder.reservedCents > 0)
    .toSorted((a, b) => b.reservedCents - a.reservedCents);
  return { kind: 'cap', apiKeyId, limitCents, spentCents, reservedCents, holders };
}

/** @param onlyOf a key with a cap: it hears of its own rentals alone */
function budgetOf(world: World, account: Account, onlyOf: ApiKeyId | undefined): BudgetPot | undefined {
  const { monthlyCents, hard } = account.budget;
  if (!hard || monthlyCents === null) return undefined;
  const { month, spentCents, reservedCents, holders: all } = useOf(world, account);
  const named = all.filter(({ apiKeyId }) => onlyOf === undefined || apiKeyId === onlyOf);
  const holders = named.map(({ rentalId, reservedCents: cents }) => ({ rentalId, reservedCents: cents }));
  return { kind: 'budget', month, limitCents: monthlyCents, spentCents, reservedCents, holders };
}

function useOf(world: World, { rentals }: Account): BudgetUse {
  const now = world.now();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const monthMs = Date.UTC(year, month, 1);
  const shares = rentals.map(({ row }) => ({ row, ...shareOfMonth(countedOf(row), monthMs) }));
  const holders = shares
    .filter(({ reservedCents }) => reservedCents > 0)
    .toSorted((a, b) => b.reservedCents - a.reservedCents)
    .map(({ row, reservedCents }) => ({ rentalId: row.id, apiKeyId: row.api_key_id, reservedCents }));
  return {
    month: new Date(monthMs).toISOString().slice(0, 7),
    endsAt: new Date(Date.UTC(year, month + 1, 1)),
    spentCents: shares.reduce((sum, { spentCents }) => sum + spentCents, 0),
    reservedCents: shares.reduce((sum, { reservedCents }) => sum + reservedCents, 0),
    unlimited: shares
      .filter(({ row }) => row.settled_at === null && row.max_spend_cents === null)
      .map(({ row }) => ({ rentalId: row.id })),
    holders,
  };
}
