import { groupedBy } from '../../../domain/grouped.js';
import type { OperationId, RentalId, UserId } from '../../../domain/ids.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import {
  chargedWithin,
  firmWithin,
  givenWithin,
  refundableWithin,
  type ChargedRental,
  type EarlierRefund,
  type TimeWindow,
} from '../../../domain/metering/window-charge.js';
import type { Database, Transaction } from '../database.js';

/** A rental that ran within a window, and its charges for that time; amounts in cents. */
export interface AffectedRental {
  readonly no: number;
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly status: RentalStatus;
  readonly runningAt: Date;
  readonly endedAt: Date | null;
  /** The charges for its time within the window, less what its settlement gave back. */
  readonly chargedCents: number;
  /** The part of it that operators gave back already. */
  readonly refundedCents: number;
  /** The part of it in orders that are not done yet. */
  readonly orderedCents: number;
  /**
   * The part of it that settling may still give back by itself: its machine was not seen alive since (decision 94,
   * "Refunds of an outage").
   */
  readonly unsettledCents: number;
  /** The part that can still be given back. */
  readonly refundableCents: number;
}

interface RentalFacts {
  readonly no: number;
  readonly rentalId: RentalId;
  readonly userId: UserId;
  readonly status: RentalStatus;
  readonly charged: ChargedRental;
}

/** A refund of a rental, given or ordered, and whether it is done. */
interface Refund extends EarlierRefund {
  readonly isDone: boolean;
}

/**
 * Reads the rentals at an upstream that ran within a window, all from one moment, in the order of users and rentals.
 * @param atMost the most rows that are read
 */
export async function readAffected(
  db: Database,
  providerCode: string,
  window: TimeWindow,
  atMost: number,
): Promise<AffectedRental[]> {
  return db.transaction(
    async (trx) => {
      const rentals = await readFacts(
        trx,
        `r.provider_code = :providerCode and r.running_at < :to and (r.ended_at is null or r.ended_at > :from)
         order by r.user_id, r.no limit :atMost`,
        { providerCode, from: window.from, to: window.to, atMost },
      );
      const refunds = await readRefunds(
        trx,
        rentals.map(({ no }) => no),
      );
      return rentals.map((rental) => affectedOf(rental, window, refunds.get(rental.no) ?? []));
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/**
 * Reads how much may be given back now for a rental's time within a window. This transaction must hold the wallet's
 * lock: whatever charges, settles or refunds the rental takes that lock.
 * @param exceptOrder whose own item does not count as given
 */
export async function readRefundable(
  trx: Transaction,
  rentalNo: number,
  window: TimeWindow,
  exceptOrder: OperationId,
): Promise<number> {
  const [rental] = await readFacts(trx, 'r.no = :rentalNo and r.running_at is not null', { rentalNo });
  if (!rental) return 0;
  const refunds = (await readRefunds(trx, [rentalNo], exceptOrder)).get(rentalNo) ?? [];
  return refundableWithin(
    rental.charged,
    window,
    refunds.filter(({ isDone }) => isDone),
  );
}

function affectedOf(
  { charged, ...rental }: RentalFacts,
  window: TimeWindow,
  refunds: readonly Refund[],
): AffectedRental {
  const [done, open] = [refunds.filter(({ isDone }) => isDone), refunds.filter(({ isDone }) => !isDone)];
  const chargedCents = chargedWithin(charged, window);
  return {
    ...rental,
    runningAt: charged.runningAt,
    endedAt: charged.endedAt,
    chargedCents,
    refundedCents: Math.min(chargedCents, givenWithin(charged, window, done)),
    orderedCents: Math.min(chargedCents, givenWithin(charged, window, open)),
    unsettledCents: chargedCents - firmWithin(charged, window),
    refundableCents: refundableWithin(charged, window, refunds),
  };
}

/** @param which SQL on the alias `r`, with what follows it */
async function readFacts(
  trx: Transaction,
  which: string,
  bindings: Record<string, unknown>,
): Promise<RentalFacts[]> {
  const { rows } = await trx.raw<{
    rows: (Omit<RentalFacts, 'charged'> & ChargedRental)[];
  }>(
    `select r.no, r.id as "rentalId", r.user_id as "userId", r.status, r.price_per_hour_cents as "pricePerHourCents",
            r.running_at as "runningAt", r.ended_at as "endedAt", r.settled_at is not null as "isSettled",
            r.charged_cents - r.refunded_cents as "netCents",
            -- Alive in the newest list: a loss that is found later is no older than that list.
            case when p.status = 'active' and p.missing_lists = 0 and p.gone_at is null
                 then greatest(p.last_alive_at, v.pods_listed_at) else p.last_alive_at end as "aliveAt"
       from rentals_now r
       left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
       left join providers v on v.code = r.provider_code
      where ${which}`,
    bindings,
  );
  return rows.map(({ no, rentalId, userId, status, ...charged }) => ({
    no,
    rentalId,
    userId,
    status,
    charged,
  }));
}

/** Reads what operators gave back for rentals, or ordered to give back, by the rental's number. */
async function readRefunds(
  trx: Transaction,
  rentalNos: readonly number[],
  exceptOrder: OperationId | null = null,
): Promise<Map<number, Refund[]>> {
  const { rows } = await trx.raw<{
    rows: { no: number; cents: number; isDone: boolean; from: string | null; to: string | null }[];
  }>(
    `select i.rental_no as no, coalesce(i.refunded_cents, i.amount_cents) as cents, i.done_at is not null as "isDone",
            o.request ->> 'from' as "from", o.request ->> 'to' as "to"
       from operator_order_items i join operator_orders o on o.id = i.order_id
      where i.rental_no = any (:nos::bigint[]) and i.order_id is distinct from :exceptOrder
        and (i.done_at is not null or o.closed_at is null)
     union all
     select r.no, (a.request ->> 'amountCents')::bigint, true, null, null
       from rentals r join operator_actions a on a.kind = 'refund' and a.request ->> 'rentalId' = r.id
      where r.no = any (:nos::bigint[])`,
    { nos: [...rentalNos], exceptOrder },
  );
  const refunds = rows.map(({ no, cents, isDone, from, to }) => {
    const window = from === null || to === null ? null : { from: new Date(from), to: new Date(to) };
    return { no, amountCents: cents, isDone, window };
  });
  return groupedBy(refunds, ({ no }) => no);
}
