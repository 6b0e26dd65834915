import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import { refuseUnlimitedBudget, type BudgetPot, type Holder } from '../../../domain/spending/pots.js';
import type { Database, Transaction } from '../database.js';
import type { BudgetRow } from '../rows/tables.js';
import type { Lock } from './caps.js';

/** The beginning of the present month in UTC, by the database's clock. */
export const monthSql = `date_trunc('month', clock_ms() at time zone 'UTC') at time zone 'UTC'`;

/**
 * The rentals that a month counts, one row each: what each has cost of it (`spent`), and what it may still cost
 * (`reserved`; null without a limit). A cent counts in the month in which it was used: what had accrued when the month
 * began was the month's before. So the parts of a rental that runs over the turn add up to its price, however late
 * metering was. The domain's `shareOfMonth` says the same of one rental. CTEs `m (at)` and `u (user_id)` come before: the
 * month's beginning, and the users.
 */
export const sharesSql = `
  select r.user_id, r.id, r.api_key_id, r.max_spend_cents is null and r.settled_at is null as unlimited,
         greatest(0, used.cents - earlier.cents) as spent,
         case when r.settled_at is not null or r.max_spend_cents is null then 0
              else greatest(0, r.max_spend_cents - earlier.cents)
                   - greatest(0, least(used.cents, r.max_spend_cents) - earlier.cents)
         end as reserved
    from m
   cross join u
   cross join lateral (
     select * from rentals where user_id = u.user_id and settled_at is null
     union all
     select * from rentals where user_id = u.user_id and settled_at >= m.at
   ) r
    left join meters t on t.rental_no = r.no
   cross join lateral (
     select case when r.settled_at is null then coalesce(t.charged_cents, r.charged_cents)
                 else r.charged_cents - r.refunded_cents + r.overage_cents end as cents
   ) used
   cross join lateral (
     -- What ended before the turn counts before it, with the cent that rounding adds.
     select case when r.ended_at <= m.at then greatest(used.cents, coalesce(r.max_spend_cents, 0))
                 when r.running_at is null then 0
                 else r.price_per_hour_cents * greatest(0, epoch_ms(m.at) - r.running_ms) / 3600000 end as cents
   ) earlier`;

/** How a month's budget stands. Amounts in cents. */
export interface BudgetUse {
  /** The month in UTC, such as 2026-11. */
  readonly month: string;
  /** When the next one begins. */
  readonly endsAt: Date;
  readonly spentCents: number;
  /** What rentals with a limit may still cost. */
  readonly reservedCents: number;
  /** The rentals without a limit: nothing but the wallet bounds what they may still cost. */
  readonly unlimited: readonly { readonly rentalId: RentalId }[];
  readonly holders: readonly (Holder & { readonly apiKeyId: ApiKeyId | null })[];
}

/** Reads what a user's rentals have cost of the present month, and may still cost. */
export async function readBudgetUse(db: Database | Transaction, userId: UserId): Promise<BudgetUse> {
  const { rows } = await db.raw<{
    rows: (Omit<BudgetUse, 'holders' | 'unlimited'> & {
      holders: BudgetUse['holders'] | null;
      unlimited: BudgetUse['unlimited'] | null;
    })[];
  }>(
    `with m as materialized (select ${monthSql} as at),
          u as (select :userId::text as user_id),
          shares as materialized (${sharesSql})
     select to_char(m.at at time zone 'UTC', 'YYYY-MM') as month,
            (m.at at time zone 'UTC' + interval '1 month') at time zone 'UTC' as "endsAt",
            (select coalesce(sum(spent), 0)::bigint from shares) as "spentCents",
            (select coalesce(sum(reserved), 0)::bigint from shares) as "reservedCents",
            (select json_agg(json_build_object('rentalId', id) order by id) from shares where unlimited) as unlimited,
            (select json_agg(json_build_object('rentalId', id, 'apiKeyId', api_key_id, 'reservedCents', reserved)
                             order by reserved desc, id)
               from shares where reserved > 0) as holders
       from m`,
    { userId },
  );
  const [use] = rows;
  if (!use) throw new Error(`the use of ${userId} could not be read`);
  return { ...use, holders: use.holders ?? [], unlimited: use.unlimited ?? [] };
}

export async function findBudget(db: Database | Transaction, userId: UserId): Promise<BudgetRow | undefined> {
  return db('budgets').where({ user_id: userId }).first();
}

/**
 * Reads the hard budget of an account as a pot, under the lock of its wallet.
 * @param lock keeps a budget from being set until this transaction ends
 * @param apiKeyId of a capped key: it hears of its own rentals alone
 * @returns undefined without a hard budget
 */
export async function findHardBudget(
  trx: Database | Transaction,
  userId: UserId,
  lock: Lock,
  apiKeyId?: ApiKeyId,
): Promise<BudgetPot | undefined> {
  // An account without a budget has no row of it to lock: the account's own stands for it.
  if (lock === 'locked') await trx.raw('select 1 from users where id = ? for share', [userId]);
  const budget = await findBudget(trx, userId);
  if (!budget?.hard || budget.monthly_cents === null) return undefined;
  const { month, spentCents, reservedCents, holders } = await readBudgetUse(trx, userId);
  return {
    kind: 'budget',
    month,
    limitCents: budget.monthly_cents,
    spentCents,
    reservedCents,
    holders: holders
      .filter((holder) => apiKeyId === undefined || holder.apiKeyId === apiKeyId)
      .map(({ rentalId, reservedCents: cents }) => ({ rentalId, reservedCents: cents })),
  };
}

/** What an account's owner sets. */
export interface BudgetSettings {
  /** null: no budget. */
  readonly monthlyCents: number | null;
  readonly hard: boolean;
}

/** A budget as it is set, and how the present month stands. */
export interface BudgetNow {
  readonly settings: BudgetSettings;
  readonly use: BudgetUse;
}

/** Reads an account's budget. */
export async function readBudget(db: Database | Transaction, userId: UserId): Promise<BudgetNow> {
  return { settings: settingsOf(await findBudget(db, userId)), use: await readBudgetUse(db, userId) };
}

/**
 * Sets an account's budget. A hard one waits for the opening or change that is just being committed, and sees its
 * rental; each later one sees the budget.
 * @param check sees what is set until now, under the lock, and may refuse
 * @throws Refusal budget_reserved for a hard budget while a rental has no limit of its own
 */
export async function saveBudget(
  trx: Transaction,
  userId: UserId,
  settings: BudgetSettings,
  check: (before: BudgetSettings) => void,
): Promise<BudgetNow> {
  await trx('users').where({ id: userId }).forNoKeyUpdate().first('id');
  check(settingsOf(await findBudget(trx, userId)));
  const { monthlyCents, hard } = settings;
  const use = await readBudgetUse(trx, userId);
  refuseUnlimitedBudget(settings, use);
  const row = {
    ...{ monthly_cents: monthlyCents, hard, changed_at: trx.raw('clock_ms()') },
    // The worker looks at it anew: another share may be reached by now.
    looked_at: null,
  };
  await trx('budgets')
    .insert({ user_id: userId, ...row })
    .onConflict('user_id')
    .merge(row);
  return { settings, use };
}

function settingsOf(row: BudgetRow | undefined): BudgetSettings {
  return { monthlyCents: row?.monthly_cents ?? null, hard: row?.hard ?? false };
}
