import type { Machine } from '../world/upstream.js';
import type { TruePayment } from '../world/processor.js';
import type { Told } from '../users/user.js';

/**
 * Judges a run by what must be true of it (shared spec and DECISIONS.md), and by what truly happened outside. It imports
 * nothing of the code that it judges, and reads the database by statements of its own.
 */
export interface Evidence {
  readonly ask: <Row>(sql: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly told: Told;
  readonly machines: readonly Machine[];
  readonly payments: readonly TruePayment[];
  readonly nowMs: number;
  /** When the last fault ended, in milliseconds since 1970. */
  readonly calmSinceMs: number;
}

interface RentalRow {
  readonly id: string;
  readonly no: string;
  readonly status: string;
  readonly tag: string;
  readonly price: string;
  readonly max_spend: string | null;
  readonly running_ms: string | null;
  readonly ended_ms: string | null;
  readonly auto_stop_ms: string | null;
  readonly auto_stop_after_ms: string | null;
  readonly requested_ms: string | null;
  readonly stop_reason: string | null;
  readonly net: string;
  readonly overage: string;
  readonly written_off: string;
  readonly settled: boolean;
}

const HOUR_MS = 3_600_000;
/** How much later than a daemon's first answer billing may begin at the earliest instant that the service could see. */
const NOTICE_MAX_MS = 15 * 60_000;

/** @returns each violation in words; none: the run is as it must be */
export async function judge(evidence: Evidence): Promise<string[]> {
  const found = await Promise.all([
    judgeLedgers(evidence),
    judgePayments(evidence),
    judgeRentals(evidence),
    judgeMachines(evidence),
    judgeProgress(evidence),
    judgeEvents(evidence),
  ]);
  return [...found.flat(), ...evidence.told.strange];
}

/** Decisions 26 and 28: each balance is its predecessor's plus the amount, and the newest is available + reserved. */
async function judgeLedgers({ ask }: Evidence): Promise<string[]> {
  const broken = await ask<{ wallet_id: string; seq: string }>(
    `select wallet_id, seq from (
       select wallet_id, seq, amount_cents, balance_after_cents,
              lag(balance_after_cents, 1, 0::bigint) over chain as before, lag(seq, 1, 0::bigint) over chain as earlier
         from ledger_entries window chain as (partition by wallet_id order by seq)) walked
      where balance_after_cents <> before + amount_cents or seq <> earlier + 1 or balance_after_cents < 0`,
  );
  const differing = await ask<{ id: string; total: string; entries: string; held: string; reserved: string }>(
    `select w.id, w.available_cents + w.reserved_cents as total, w.reserved_cents as reserved,
            coalesce((select sum(amount_cents) from ledger_entries e where e.wallet_id = w.id), 0) as entries,
            coalesce((select sum(greatest(0, case when m.rental_no is null then r.hold_cents else m.hold_cents end))
                        from rentals r left join meters m on m.rental_no = r.no
                       where r.wallet_id = w.id and r.settled_at is null), 0) as held
       from wallets w`,
  );
  return [
    ...broken.map(({ wallet_id, seq }) => `wallet ${wallet_id}: entry ${seq} breaks the chain`),
    ...differing
      .filter(({ total, entries }) => Number(total) !== Number(entries))
      .map(
        ({ id, total, entries }) => `wallet ${id}: its total is ${total}, its entries sum up to ${entries}`,
      ),
    ...differing
      .filter(({ held, reserved }) => Number(held) === 0 && Number(reserved) !== 0)
      .map(({ id, reserved }) => `wallet ${id}: ${reserved} cents are reserved for nothing`),
  ];
}

/** Decisions 32 and 35: each payment that succeeded is credited once, in full, to its payer; nothing else is credited. */
async function judgePayments({ ask, payments }: Evidence): Promise<string[]> {
  const credits = await ask<Credit>(
    `select e.processor_charge_id as charge, e.amount_cents as cents, w.user_id, e.type::text as type
       from ledger_entries e join wallets w on w.id = e.wallet_id
      where e.type in ('processor_topup', 'auto_topup')`,
  );
  const offers = await ask<{ payment_id: string }>(
    `select payment_id from invoices where reason = 'topup_failed' and payment_id is not null`,
  );
  const offered = new Set(offers.map(({ payment_id }) => payment_id));
  const taken = payments.filter(({ status }) => status === 'succeeded');
  const charges = new Set(taken.map(({ chargeId }) => chargeId));
  return [
    ...taken.flatMap((payment) => {
      const own = credits.filter(({ charge }) => charge === payment.chargeId);
      // The payment of a debt moves no balance.
      const isDebt = payment.source === 'invoice' && !offered.has(payment.paymentId);
      return judgePayment(payment, own, isDebt ? 0 : 1);
    }),
    ...credits
      .filter(({ charge }) => !charges.has(charge))
      .map(({ charge }) => `a credit names ${String(charge)}, which took nothing`),
  ];
}

interface Credit {
  readonly charge: string | null;
  readonly cents: string;
  readonly user_id: string;
  readonly type: string;
}

function judgePayment(payment: TruePayment, own: readonly Credit[], wanted: number): string[] {
  const { paymentId, amountReceivedCents, userId, source } = payment;
  const type = source === 'auto_topup' ? 'auto_topup' : 'processor_topup';
  return [
    ...told(own.length !== wanted, `payment ${paymentId} is credited ${own.length} times, and not ${wanted}`),
    ...own.flatMap((credit) => [
      ...told(
        Number(credit.cents) !== amountReceivedCents,
        `payment ${paymentId} of ${amountReceivedCents} is credited as ${credit.cents}`,
      ),
      ...told(![null, credit.user_id].includes(userId), `payment ${paymentId} is credited to somebody else`),
      ...told(credit.type !== type, `payment ${paymentId} is credited as ${credit.type}`),
    ]),
  ];
}

function told(isSo: boolean, what: string): string[] {
  return isSo ? [what] : [];
}

/** Decisions 15, 18, 24 to 27: the cost of each rental, from the true instants. */
async function judgeRentals(evidence: Evidence): Promise<string[]> {
  const { ask, told: said } = evidence;
  const rows = await ask<RentalRow>(
    `select r.id, r.no, r.status, r.tag, r.price_per_hour_cents as price, r.max_spend_cents as max_spend,
            extract(epoch from r.running_at) * 1000 as running_ms, extract(epoch from r.ended_at) * 1000 as ended_ms,
            extract(epoch from r.auto_stop_at) * 1000 as auto_stop_ms, r.auto_stop_after_ms,
            extract(epoch from s.requested_at) * 1000 as requested_ms, r.stop_reason,
            coalesce((select -sum(amount_cents) from ledger_entries e where e.rental_no = r.no), 0) as net,
            r.overage_cents as overage, r.written_off_cents as written_off,
            r.settled_at is not null as settled
       from rentals r left join stop_requests s on s.rental_no = r.no order by r.no`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const violations: string[] = [];
  for (const id of said.never) if (known.has(id)) violations.push(`${id} was said never to be, and is there`);
  for (const { rentalId, pricePerHourCents } of said.rentals.values()) {
    const row = rows.find(({ id }) => id === rentalId);
    if (row === undefined) violations.push(`${rentalId} was answered with 200, and is not there`);
    else if (Number(row.price) > pricePerHourCents)
      violations.push(`${rentalId} became dearer after its answer`);
  }
  return [
    ...violations,
    ...rows.flatMap((row) => judgeRental(row, evidence).map((fault) => `${row.id}: ${fault}`)),
  ];
}

function judgeRental(row: RentalRow, evidence: Evidence): string[] {
  const net = Number(row.net);
  if (!row.settled) return [];
  if (row.status === 'failed') return told(net !== 0, `it failed and still costs ${net} cents`);
  if (row.running_ms === null || row.ended_ms === null) {
    return told(net !== 0, `it never ran and costs ${net} cents`);
  }
  const machine = evidence.machines.find(({ tag }) => tag === row.tag);
  if (machine === undefined) return ['it ran on no machine that was ever bought'];
  const life = { runningMs: Number(row.running_ms), endedMs: Number(row.ended_ms) };
  return [
    ...judgeBeginning(life, machine),
    ...judgeEnd(row, life, machine, evidence.told),
    ...judgeBill(row, life, net),
  ];
}

/** The time for which a rental is billed, in milliseconds since 1970. */
interface Life {
  readonly runningMs: number;
  readonly endedMs: number;
}

/** Decision 18: billing runs from the first answer of the SSH daemon. */
function judgeBeginning({ runningMs }: Life, { answersMs }: Machine): string[] {
  return [
    ...told(runningMs < answersMs, 'its billing began before its machine answered'),
    ...told(runningMs > answersMs + NOTICE_MAX_MS, 'its billing began long after its machine answered'),
  ];
}

/** Decision 25: the bill is a function of rate and instants only. */
function judgeBill(row: RentalRow, { runningMs, endedMs }: Life, net: number): string[] {
  const elapsed = BigInt(Math.max(0, Math.round(endedMs - runningMs)));
  const exact = Number((2n * BigInt(row.price) * elapsed + BigInt(HOUR_MS)) / (2n * BigInt(HOUR_MS)));
  const due = Math.min(Number(row.max_spend ?? Infinity), exact);
  const paid = net + Number(row.overage) + Number(row.written_off);
  const life = `${String(row.stop_reason)} ended it after ${elapsed} ms at ${row.price} cents an hour`;
  return told(paid !== due, `${life}: it costs ${paid}, and must cost ${due}`);
}

/** Decision 25: billing ends at the least of the stop, the limits, the end of the money, and the loss. */
function judgeEnd(row: RentalRow, { runningMs, endedMs }: Life, machine: Machine, said: Told): string[] {
  const requested = Number(row.requested_ms ?? Infinity);
  const autoStop = runningMs + Number(row.auto_stop_after_ms ?? Infinity);
  const instants: Readonly<Record<string, number>> = { user: requested, auto_stop: autoStop };
  const instant = Math.max(runningMs, instants[String(row.stop_reason)] ?? endedMs);
  const answeredMs = said.stops
    .filter(({ rentalId, status }) => rentalId === row.id && status === 200)
    .map((stop) => stop.answeredMs);
  const isLost = row.stop_reason === 'pod_lost';
  return [
    ...told(endedMs > Math.max(requested, runningMs), 'it was billed beyond its stop request'),
    ...told(endedMs > autoStop, 'it was billed beyond its auto-stop'),
    ...told(Number(row.auto_stop_ms ?? autoStop) !== autoStop, 'its auto-stop is not its hours after it ran'),
    ...told(isLost && endedMs > machine.lostMs, 'it was billed beyond its loss'),
    ...told(requested > Math.min(...answeredMs, Infinity), 'its stop was noted after it was answered'),
    ...told(
      endedMs !== instant,
      `${String(row.stop_reason)} ended it ${endedMs - instant} ms after that instant`,
    ),
  ];
}

/** Decision 22: each bought machine is ended once nobody rents it. */
async function judgeMachines({ ask, machines, nowMs }: Evidence): Promise<string[]> {
  const live = await ask<{ tag: string }>(`select tag from rentals where closed_at is null`);
  const tags = new Set(live.map(({ tag }) => tag));
  return machines
    .filter(({ tag, goneMs }) => !tags.has(tag) && (goneMs === undefined || goneMs > nowMs))
    .map(
      ({ podId, tag, toldMs }) =>
        `machine ${podId} (${tag}) is rented by nobody and runs on; told: ${String(toldMs !== undefined)}`,
    );
}

/** An hour after the last fault, everything is final or waits for a reason that has a name. */
async function judgeProgress({ ask, calmSinceMs, nowMs }: Evidence): Promise<string[]> {
  if (nowMs - calmSinceMs < HOUR_MS) return [];
  const violations: string[] = [];
  const stuck = await ask<{ what: string }>(
    `select 'rental ' || id || ' is ' || status as what from rentals where status in ('provisioning', 'stopping') or (status in ('stopped', 'failed') and closed_at is null)
     union all select 'top-up ' || id || ' is ' || status from topups where closed_at is null and status <> 'requires_payment'
     union all select 'event ' || id || ' (' || kind || ') is not handled' from processor_events where handled_at is null and workflow_id is not null
     union all select 'an event is not numbered: ' || type from event_outbox
     union all select 'an intent is open: ' || kind from intents where acknowledged_at is null and kind <> 'low_balance' and kind <> 'auto_topup'
     union all select 'wallet ' || id || ' is blocked: ' || metering_blocked_reason from wallets where metering_blocked_at is not null`,
  );
  violations.push(...stuck.map(({ what }) => what));
  return violations;
}

/** N5: each user's events are numbered without a gap, from 1. */
async function judgeEvents({ ask }: Evidence): Promise<string[]> {
  const gaps = await ask<{ user_id: string; count: string; top: string }>(
    `select user_id, count(*), max(seq) as top from events group by user_id having count(*) <> max(seq) or min(seq) <> 1`,
  );
  return gaps.map(({ user_id, count, top }) => `the events of ${user_id}: ${count}, numbered up to ${top}`);
}
