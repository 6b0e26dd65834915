import type { TrueRefund } from '../world/truth.js';
import { rentalOf, told, type Evidence } from './evidence.js';

/** What began while the closing was asked for may be committed a little later: one request lasts no longer. */
const UNDER_WAY_MS = 30_000;
/** How often a payment's card may send back what it was given (decision 182). */
const BOUNCES_MAX = 2;

interface ClosingRow {
  readonly user_id: string;
  readonly state: string;
  readonly waits: readonly string[];
  readonly has_lapsed: string;
  /** What its ledger says: lapsed, given by operators, and what machines, debts and reversals took. */
  readonly lapsed: string;
  readonly given: string;
  readonly used: string;
  /** The balance of its wallet. */
  readonly left: string;
  readonly rentals: readonly string[];
  readonly topups: readonly string[];
  /** What was begun after it was asked for. */
  readonly late: readonly string[];
  readonly may_spend: boolean;
}

interface ReturnRow {
  readonly id: string;
  readonly user_id: string;
  readonly payment_id: string;
  readonly cents: string;
  readonly refund_id: string | null;
  /** What the wallet had when it was asked for last. */
  readonly had: string;
  /** Reversals that had taken money of the payment then, and whether its payer denied it. */
  readonly gone: string;
  readonly is_disputed: boolean;
  /** What of it the wallet did not have, though nobody else took anything meanwhile. */
  readonly missing: string;
}

interface Case extends Evidence {
  readonly rows: readonly ClosingRow[];
  readonly returns: readonly ReturnRow[];
}

/**
 * Decisions 182 and 183: an account that closes ends what runs, gets back what its user paid in and did not use, once, and
 * is forgotten. With conservation.ts it is to the cent: what was paid and did not go back is what was used, what paid debts,
 * and what no card takes back, as the rest of a closed account is 0 and no more lapses than was given.
 */
export async function judgeClosings(evidence: Evidence): Promise<string[]> {
  const { ask, told: said, world } = evidence;
  const rows = await ask<ClosingRow>(closingsSql);
  const returns = await ask<ReturnRow>(returnsSql);
  const asked = new Set(said.closings.map(({ userId }) => userId));
  const ids = new Set(rows.map(({ user_id: id }) => id));
  const all: Case = { ...evidence, rows, returns };
  // The restored database knows nothing of the last minutes.
  const isRestored = evidence.stoodStill !== undefined;
  return [
    ...said.closings
      .filter(({ userId, answeredMs }) => answeredMs !== undefined && !ids.has(userId))
      .map(({ email }) => `${email} was told that their account is being closed, and it is not`),
    ...rows.flatMap((row) =>
      [
        ...told(!asked.has(row.user_id), 'nobody asked for it'),
        ...judgeEnd(row),
        ...judgeLapse(row),
        ...(isRestored ? judgeWaits(row, all) : []),
      ].map((fault) => `the closing of ${row.user_id} (${row.state}): ${fault}`),
    ),
    ...(isRestored ? [] : judgeReturns(all, world.processor.truth.refunds)),
    ...judgeDecisions(evidence),
    ...(await judgeErasure(evidence)),
  ];
}

/** Nothing is begun after it was asked for, and nothing runs once its money goes back. */
function judgeEnd({ state, late, rentals, topups, left, waits, may_spend: maySpend }: ClosingRow): string[] {
  const isSettled = !['stopping', 'settling'].includes(state);
  const isOver = ['kept', 'closed'].includes(state);
  return [
    ...told(late.length > 0, `${late.join()} began after it was asked for`),
    ...told(isSettled && rentals.length > 0, `${rentals.join()} is not closed`),
    ...told(state === 'closed' && topups.length > 0, `${topups.join()} is not closed`),
    ...told(isSettled && maySpend, 'an API key or auto-topup still spends its money'),
    ...told(state === 'closed' && Number(left) !== 0, `${left} cents are left`),
    ...told(isOver && waits.includes('refused_refunds'), 'no card takes its money, and its person is gone'),
  ];
}

/** Given money alone lapses, and it counts as used first. */
function judgeLapse({ state, left, has_lapsed: said, lapsed, given, used }: ClosingRow): string[] {
  const isSettled = ['erasing', 'kept', 'closed'].includes(state) && Number(left) === 0;
  return [
    ...told(said !== lapsed, `${lapsed} cents lapsed, and its row says ${said}`),
    ...told(Number(lapsed) > Number(given), `${lapsed} cents lapsed, and only ${given} were given`),
    ...told(
      isSettled && Number(lapsed) < Number(given) - Number(used),
      `of ${given} given cents ${used} were used, and only ${lapsed} lapsed`,
    ),
  ];
}

/** Each refund at the processor that a closing asked for is one row, and was right when it was asked for. */
function judgeReturns({ returns }: Case, refunds: readonly TrueRefund[]): string[] {
  const asked = refunds.filter(({ key }) => key?.startsWith('closing-refund:'));
  const rowNoOf = ({ key }: TrueRefund): string => key?.split(':')[2] ?? '';
  const known = new Set(refunds.map(({ id }) => id));
  return [
    ...asked.flatMap((refund) => {
      const own = returns.filter((row) => row.refund_id === refund.id);
      const [row] = own;
      const isSame =
        row?.payment_id === refund.payment.paymentId &&
        Number(row.cents) === refund.amountCents &&
        row.user_id === refund.payment.payerId &&
        row.id === rowNoOf(refund);
      const twins = asked.filter((other) => rowNoOf(other) === rowNoOf(refund));
      return [
        ...told(
          own.length !== 1,
          `refund ${refund.id} (${String(refund.key)}) has ${own.length} rows of closings`,
        ),
        ...told(
          own.length === 1 && !isSame,
          `refund ${refund.id} (${String(refund.key)}) is another one in its row`,
        ),
        ...told(
          twins[0] === refund && twins.length > 1,
          `${String(refund.key)} went back ${twins.length} times`,
        ),
      ];
    }),
    ...returns.flatMap((row) =>
      judgeReturn(row, refunds, known).map((fault) => `return ${row.id} of ${row.payment_id}: ${fault}`),
    ),
  ];
}

function judgeReturn(row: ReturnRow, refunds: readonly TrueRefund[], known: ReadonlySet<string>): string[] {
  const { cents, refund_id: refundId, had, gone, is_disputed: isDisputed, missing } = row;
  const refund = refunds.find(({ id }) => id === refundId);
  const paid = refund?.payment.amountReceivedCents ?? Infinity;
  return [
    ...told(refundId !== null && !known.has(refundId), `${String(refundId)} never was`),
    ...told(Number(had) < Number(cents), `${cents} cents were asked for, and the wallet had ${had}`),
    ...told(Number(gone) + Number(cents) > paid, `${cents} of ${paid} cents, of which ${gone} had gone back`),
    ...told(isDisputed, 'its payer had denied it when it was asked for'),
    ...told(Number(missing) > 0, `${missing} of ${cents} cents were not in the wallet any more`),
  ];
}

/** Decision 194: what operators were told of payments that the processor's account does not know is so in truth. */
function judgeDecisions({ told: { decisions }, world: { processor } }: Evidence): string[] {
  const { truth, returns } = processor;
  return decisions.flatMap(({ userId, amountCents, shares }) => {
    const own = truth.payments.filter(({ payerId, status }) => payerId === userId && status === 'succeeded');
    const restCents = amountCents - shares.reduce((sum, { cents }) => sum + cents, 0);
    const gone = new Set([...truth.refunds, ...truth.disputes].map(({ payment }) => payment.paymentId));
    const othersRefuse = own.some(({ paymentId: id }) => returns.notRefundable.has(id) || gone.has(id));
    return [
      ...told(restCents < 0, `their shares are ${-restCents} cents more than was told`),
      ...told(restCents > 0 && !othersRefuse, `${restCents} cents were told that a card takes`),
      ...shares.flatMap(({ paymentId, cents }) => {
        const paidCents = own.find((one) => one.paymentId === paymentId)?.amountReceivedCents ?? 0;
        return [
          ...told(!returns.unknown.has(paymentId), `${paymentId} is known`),
          ...told(
            cents <= 0 || cents > paidCents,
            `${cents} of ${paidCents} cents of ${paymentId} were told`,
          ),
        ];
      }),
    ].map((fault) => `the decision about ${userId}: ${fault}`);
  });
}

/** What a closing waits for is so in truth; see `reasons`. Its looks are an hour apart at most, and there were several. */
function judgeWaits(row: ClosingRow, all: Case): string[] {
  const { state, waits } = row;
  const isUnderWay = !['kept', 'closed'].includes(state);
  return [
    ...told(isUnderWay && waits.length === 0, 'it stands still'),
    ...told(state === 'kept' && Number(row.left) !== 0, `${row.left} cents are left`),
    ...waits
      .filter((wait) => reasons[wait]?.(row, all) !== true)
      .map((wait) => `it waits for ${wait}, and there is none`),
  ];
}

/** What may be waited for when nothing has been disturbed for long, each with what must be so then. */
const reasons: Readonly<Record<string, (row: ClosingRow, all: Case) => boolean>> = {
  rentals: ({ rentals }, { machines }) =>
    machines.some((machine) => machine.isStubborn && rentals.includes(rentalOf(machine))),
  disputes: ({ user_id: id }, { world }) =>
    world.processor.truth.disputes.some((one) => one.isOpen && one.payment.payerId === id),
  refunds: ({ user_id: id }, { world }) =>
    world.processor.truth.refunds.some((one) => one.isPending && one.payment.payerId === id),
  refused_refunds: ({ user_id: id, left }, all) =>
    Number(left) > 0 && (returnableCents(id, all.world) === 0 || isUndecided(id, all)),
  late_events: () => true,
};

/** Whether the processor's account does not know a payment of a user about which no operator has decided. */
function isUndecided(userId: string, { world: { processor }, told: { decisions } }: Evidence): boolean {
  const decided = new Set(decisions.flatMap(({ shares }) => shares.map(({ paymentId }) => paymentId)));
  return processor.truth.payments.some(
    ({ payerId, paymentId }) =>
      payerId === userId && processor.returns.unknown.has(paymentId) && !decided.has(paymentId),
  );
}

/** What the cards of a user would still take back, by the processor's truth. */
function returnableCents(userId: string, { processor }: Evidence['world']): number {
  const { payments, refunds, disputes } = processor.truth;
  const own = payments.filter(({ payerId, status }) => payerId === userId && status === 'succeeded');
  return own.reduce((sum, { paymentId, amountReceivedCents: paid }) => {
    const back = refunds.filter(({ payment }) => payment.paymentId === paymentId);
    const bounced = back.filter(({ key, isLive }) => key !== null && !isLive);
    const isDenied = disputes.some(
      ({ payment, isOpen, withdrawn, reinstated }) =>
        payment.paymentId === paymentId && (isOpen || (withdrawn && !reinstated)),
    );
    const { notRefundable, unknown } = processor.returns;
    if (isDenied || bounced.length >= BOUNCES_MAX || notRefundable.has(paymentId) || unknown.has(paymentId))
      return sum;
    const gone = back.filter(({ isLive }) => isLive).reduce((all, { amountCents }) => all + amountCents, 0);
    return sum + paid - gone;
  }, 0);
}

/** Of whom is gone, nothing lets in any more, the processor knows no customer, and no column has the address. */
async function judgeErasure({ ask, told: said, world }: Evidence): Promise<string[]> {
  const closed = await ask<{ user_id: string; can_sign_in: boolean }>(
    `select user_id, exists (select 1 from sessions s where s.user_id = c.user_id)
                  or exists (select 1 from saved_cards s where s.user_id = c.user_id) as can_sign_in
       from account_closings c where state = 'closed'`,
  );
  const customers = new Set(world.processor.truth.payers);
  const ids = new Set(closed.map(({ user_id: id }) => id));
  const emails = said.closings.filter(({ userId }) => ids.has(userId)).map(({ email }) => email);
  return [
    ...closed.flatMap(({ user_id: id, can_sign_in: canSignIn }) => [
      ...told(canSignIn, `${id} is closed, and has sessions or cards`),
      ...told(customers.has(id), `${id} is closed, and still a customer of the processor`),
    ]),
    ...(emails.length === 0 ? [] : await placesOf(ask, emails)),
  ];
}

async function placesOf(ask: Evidence['ask'], emails: readonly string[]): Promise<string[]> {
  const tables = await ask<{ name: string }>(
    `select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
        and c.relname not like 'simulated%' order by 1`,
  );
  const looks = tables.map(
    ({ name }) =>
      `select '${name}' as name, sought.word as email from unnest($1::text[]) sought(word)
        where exists (select 1 from ${name} t where strpos(t::text, sought.word) > 0)`,
  );
  const found = await ask<{ name: string; email: string }>(looks.join(' union all '), [emails]);
  return found.map(({ name, email }) => `${email} is erased, and stands in ${name}`);
}

const closingsSql = `
  select c.user_id, c.state, c.waits_for as waits,
         c.lapsed_cents as has_lapsed, w.available_cents + w.reserved_cents as left, s.*,
         array(select id from rentals r where r.user_id = c.user_id and r.closed_at is null) as rentals,
         array(select id from topups t where t.user_id = c.user_id and t.closed_at is null) as topups,
         array(select id from rentals r where r.user_id = c.user_id
                  and r.started_at > c.requested_at + ${UNDER_WAY_MS} * interval '1 millisecond'
                union all
               select id from topups t where t.user_id = c.user_id
                  and t.created_at > c.requested_at + ${UNDER_WAY_MS} * interval '1 millisecond') as late,
         exists (select 1 from api_keys k where k.user_id = c.user_id and k.revoked_at is null)
           or exists (select 1 from auto_topups a where a.user_id = c.user_id and a.enabled) as may_spend
    from account_closings c join wallets w using (user_id)
   cross join lateral (
     select coalesce(-sum(e.amount_cents) filter (where x.cause like 'closing:%'), 0) as lapsed,
            coalesce(sum(e.amount_cents) filter (where x.cause like 'operation:%' and e.amount_cents > 0), 0) as given,
            coalesce(-sum(e.amount_cents) filter (where e.rental_no is not null), 0)
              + coalesce(-sum(e.amount_cents) filter (where x.cause ~ '^(set-off|refund|dispute)' and e.amount_cents < 0), 0)
              as used
       from seen_entries e left join ledger_causes x on x.wallet_id = e.wallet_id and x.seq = e.seq
      where e.wallet_id = w.id) s
   order by c.user_id`;

// What has the same instant as the call may have come before it or after it.
const returnsSql = `
  select x.id, x.user_id, x.payment_id, x.amount_cents as cents, x.refund_id,
         case when x.called_at is null then x.amount_cents else greatest(
           (select coalesce(sum(e.amount_cents), 0) from seen_entries e where e.wallet_id = w.id and e.created_at <= x.called_at),
           (select coalesce(sum(e.amount_cents), 0) from seen_entries e where e.wallet_id = w.id and e.created_at < x.called_at))
         end as had,
         (select coalesce(sum(debited_cents + invoiced_cents + written_off_cents), 0) from refunds_and_disputes o
           where o.payment_id = x.payment_id and o.id is distinct from x.refund_id and o.taken_at < x.called_at
             and (o.given_back_at is null or o.given_back_at > x.called_at)) as gone,
         exists (select 1 from refunds_and_disputes o
           where o.payment_id = x.payment_id and o.kind = 'dispute' and o.taken_at < x.called_at
             and (o.given_back_at is null or o.given_back_at > x.called_at)) as is_disputed,
         case when exists (select 1 from refunds_and_disputes o
                where o.user_id = x.user_id and o.id <> x.refund_id and o.taken_at between x.called_at and d.taken_at)
           then 0 else coalesce(d.invoiced_cents + d.written_off_cents, 0) end as missing
    from closing_refunds x join wallets w using (user_id)
    left join refunds_and_disputes d on d.id = x.refund_id
   order by x.id`;
