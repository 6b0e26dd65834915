import type { UserId } from '../../../domain/ids.js';
import { spendingLimits } from '../../../domain/spending/limits.js';
import type { Database } from '../database.js';
import { recordEvents } from '../events/outbox.js';
import { noteForUser } from '../notices/user-notices.js';
import { monthSql, sharesSql } from './budgets.js';

/** A user with a budget of which shares were reached that they were not told of. */
export interface Reached {
  readonly userId: UserId;
  /** The month in UTC, such as 2026-11. */
  readonly month: string;
  readonly spentCents: number;
  readonly monthlyCents: number;
  readonly hard: boolean;
  /** The shares in percent, the lowest first. */
  readonly percents: readonly number[];
}

interface Looked {
  readonly reached: readonly Reached[];
  /** The last user of this page; undefined when there are no more. */
  readonly last: UserId | undefined;
}

/** How many budgets are looked at together. */
const PAGE = 200;

/** How long a settlement may take to commit, in seconds: its rental is looked at again for that long. */
const COMMIT_WITHIN_S = 300;

/**
 * Looks at a page of the budgets whose spending may have changed since the last look: those of users with a rental that
 * is not settled, or was settled since. A user who was told nothing new costs no write.
 * @param after the last user of the page before
 */
export async function lookAtBudgets(db: Database, after: UserId | undefined): Promise<Looked> {
  const { rows } = await db.raw<{ rows: (Reached & { readonly isReached: boolean })[] }>(
    `with clock as materialized (select clock_ms() as at),
          m as materialized (select ${monthSql} as at),
          u as materialized (
            select b.user_id, b.monthly_cents, b.hard from budgets b cross join clock
             where b.monthly_cents is not null and b.user_id > :after
               and (b.looked_at is null
                    or exists (select 1 from rentals r where r.user_id = b.user_id and r.settled_at is null)
                    or exists (select 1 from rentals r where r.user_id = b.user_id
                                  and r.settled_at > b.looked_at - :commitS * interval '1 second'))
             order by b.user_id limit :page
          ),
          sums as (select user_id, sum(spent)::bigint as spent from (${sharesSql}) shares group by user_id),
          found as materialized (
            select u.user_id as "userId", to_char(m.at at time zone 'UTC', 'YYYY-MM') as month,
                   coalesce(s.spent, 0) as "spentCents", u.monthly_cents as "monthlyCents", u.hard,
                   coalesce(reached.percents, '{}') as percents
              from u cross join m
              left join sums s on s.user_id = u.user_id
             cross join lateral (
               select array_agg(p.percent order by p.percent) as percents from unnest(:percents::int[]) as p (percent)
                where coalesce(s.spent, 0) * 100 >= u.monthly_cents * p.percent
                  and not exists (select 1 from budget_alerts a
                                   where a.user_id = u.user_id and a.percent = p.percent
                                     and a.month = to_char(m.at at time zone 'UTC', 'YYYY-MM'))
             ) reached
          ),
          looked as (
            -- Who is to be told is looked at again until that is done, and who has open rentals each time anyway.
            update budgets b set looked_at = clock.at from found f cross join clock
             where b.user_id = f."userId" and f.percents = '{}' and not exists (
               select 1 from rentals r where r.user_id = b.user_id and r.settled_at is null)
          )
     select * from found order by "userId"`,
    {
      after: after ?? '',
      page: PAGE,
      commitS: COMMIT_WITHIN_S,
      percents: [...spendingLimits.alertPercents],
    },
  );
  return {
    reached: rows.filter(({ percents }) => percents.length > 0),
    last: rows.length < PAGE ? undefined : rows.at(-1)?.userId,
  };
}

/** Tells a user of shares that were reached, once each, by mail and by events. */
export async function tellReached(db: Database, reached: Reached): Promise<void> {
  const { userId, month, spentCents, monthlyCents, hard } = reached;
  await db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { percent: number }[] }>(
      `insert into budget_alerts (user_id, month, percent, monthly_cents, spent_cents)
       select :userId, :month, percent, :monthlyCents, :spentCents from unnest(:percents::int[]) as p (percent)
       on conflict do nothing returning percent`,
      { userId, month, monthlyCents, spentCents, percents: [...reached.percents] },
    );
    const told = rows.map(({ percent }) => ({ percent, month, spentCents, monthlyCents }));
    await recordEvents(
      trx,
      'budget.reached',
      told.map((data) => ({ userId, entityId: userId, data })),
    );
    for (const facts of told) {
      await noteForUser(trx, {
        userId,
        kind: 'budget_reached',
        cause: { kind: 'budget_reached', userId, month, percent: facts.percent },
        facts: { ...facts, hard },
      });
    }
  });
}
