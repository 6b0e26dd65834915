import assert from 'node:assert/strict';
import { Context } from '@temporalio/activity';
import { newId } from '../../../adapters/ids.js';
import { keepItems } from '../../../adapters/postgres/restore/items.js';
import { ProcessorError, type Payment } from '../../../adapters/processor/processor.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import { createRestoreActivities } from '../../../activities/restore/restore.js';
import type { RentalId } from '../../../domain/ids.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import type { RestoreReport } from '../../../domain/operations/restore.js';
import { reportText } from '../../../ops/service/restore-text.js';
import { watermarkMemo } from '../../../workflows/contracts/watermark.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertRunning, insertWallet } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';
import { runAlone, type LoneActivity } from '../../support/service/activity-context.js';

/** Temporal refuses a payload of 2 MiB. */
const MIB = 1024 * 1024;
const MANY = 8_000;
const PAYMENTS = 250;
const PAGE = 50;

describe('a restore of a large fleet', () => {
  let activities: LoneActivities;
  let listedMachines = 0;
  /** The page of events that the processor can't serve. */
  let away: number | undefined;
  /** The payments that can't be read. */
  let unreadable: string | undefined;
  const rentals: RentalId[] = [];
  before(async () => {
    const provider = {
      code: 'lab',
      listPods: () => {
        listedMachines += 1;
        return Promise.resolve(
          times(MANY, (n) => ({
            ...{ podId: `pod-${n}-491899c2-afa0-4980-82ff-9e43dd24a5b0`, tag: `test-${newId('rent')}-1` },
            ...{ upstreamStatus: 'active', pricePerHourCents: 148 },
          })),
        );
      },
    } as unknown as Provider;
    activities = await startActivities({
      providers: new Map([['lab', provider]]),
      temporal: {
        workflow: {
          getHandle: () => ({
            describe: () => Promise.resolve({ memo: { [watermarkMemo]: 60 } }),
          }),
          signalWithStart: () => Promise.resolve(),
          list: lostRuns,
          options: { namespace: 'default' },
          workflowService: { getWorkflowExecutionHistoryReverse: knowsNone },
        },
      },
    });
    const wallet = await insertWallet(activities.db, 10_000);
    for (let n = 0; n < 3; n += 1)
      rentals.push(await insertRunning(activities.db, wallet, { priceCents: 60, ranMs: 600_000 }));
    await activities.db('watermark').update({ confirmed_as: null });
  });
  after(() => activities.close());
  beforeEach(() => {
    listedMachines = 0;
    away = undefined;
    unreadable = undefined;
    activities.processor.reset();
    activities.processor.answers = {
      listEvents: ({ after }) => {
        const page = after === null ? 1 : Number(after.slice('evt_'.length)) / PAGE + 1;
        if (page === away) return Promise.reject(new ProcessorError('unknown', 'no answer', {}));
        const first = (page - 1) * PAGE;
        return Promise.resolve({
          events: times(PAGE, (n) => eventOf(first + n + 1)),
          after: first + PAGE < PAYMENTS ? `evt_${first + PAGE}` : null,
        });
      },
      getPayment: (id) => {
        if (id === unreadable) return Promise.reject(new ProcessorError('unknown', 'no answer', {}));
        return Promise.resolve(paymentOf(id));
      },
    };
  });

  /** One try of an activity. @param before the try before it, whose last heartbeat it is told */
  function attempt<T>(
    runId: string,
    work: (of: ReturnType<typeof createRestoreActivities>) => Promise<T>,
    { before, nth = 1 }: { readonly before?: LoneActivity<unknown>; readonly nth?: number } = {},
  ): LoneActivity<T> {
    return runAlone(() => {
      const told = { heartbeatDetails: before?.beats.at(-1), workflowExecution: { runId } };
      Object.assign(Context.current().info, told);
      return work(createRestoreActivities(activities.deps));
    }, nth);
  }
  const look = (runId: string, before?: LoneActivity<unknown>): LoneActivity<RestoreReport> =>
    attempt(runId, (of) => of.examineRestore({ inRows: true }), before && { before });
  const sizeOf = (payload: unknown): number => JSON.stringify(payload).length;
  const askedAfter = (): (string | null)[] =>
    (activities.processor.argsOf('listEvents') as { after: string | null }[]).map(({ after }) => after);

  it('is told of in counts and the first of each list, and all of it stands in rows', async () => {
    const report = await look('counts').result;
    assert.ok(sizeOf(report) < MIB / 4, `${sizeOf(report)} bytes`);
    assert.equal(report.runId, 'counts');
    const named = operationLimits.restoreNamed;
    assert.deepEqual(
      [report.lost.length, report.unknownPods.length, report.missingPayments.length],
      [named, named, named],
    );
    const more = { lost: MANY - named, unknownPods: MANY - named, missingPayments: PAYMENTS - named };
    assert.deepEqual(report.more, more);
    assert.deepEqual([report.withoutRun.length, report.goingOn], [3, 0]);
    const counted = await activities.db('restore_items').where({ run_id: 'counts' }).count().groupBy('kind');
    assert.deepEqual(
      counted.map(({ count }) => Number(count)).toSorted(),
      [3, PAYMENTS, MANY, MANY].toSorted(),
    );
    const lines = reportText(report).split('\n');
    const machines = lines.indexOf(' 8000  machines without a rental here: YOU DECIDE');
    assert.equal(lines[machines - 1], '         … and 7900 more');
    assert.equal(lines[machines - 102], ' 8000  rentals that were opened in the lost time: YOU DECIDE');
    // A run that an earlier release began takes all of it as it was.
    const whole = await attempt('earlier', (of) => of.examineRestore()).result;
    assert.ok(sizeOf(whole) > 2 * MIB, `${sizeOf(whole)} bytes`);
    assert.deepEqual([whole.runId, whole.more, whole.lost.length], [undefined, undefined, MANY]);
  });

  it('is looked at from where the try before ended', async () => {
    away = 3;
    const first = look('again');
    await assert.rejects(first.result, /no answer/);
    away = undefined;
    activities.processor.asked.length = 0;
    assert.deepEqual((await look('again', first).result).more?.missingPayments, PAYMENTS - 100);
    assert.deepEqual(askedAfter(), ['evt_100', 'evt_150', 'evt_200']);
    assert.equal(listedMachines, 1);
  });

  it('is mended from where the try before ended, tells the first of each list, and goes on', async () => {
    const { raisedAt } = await look('mended').result;
    const input = { raisedAt, runId: 'mended' };
    const rebuild = (before?: LoneActivity<unknown>, nth = 1) =>
      attempt('mended', (of) => of.rebuildPayments(input), { ...(before && { before }), nth });
    away = 3;
    const first = rebuild();
    await assert.rejects(first.result, /no answer/);
    away = undefined;
    activities.processor.asked.length = 0;
    const rebuilt = await rebuild(first, 2).result;
    assert.deepEqual(askedAfter(), ['evt_100', 'evt_150', 'evt_200']);
    const { parked, more, credited, undone } = rebuilt;
    assert.deepEqual(
      [parked.length, more, credited, undone],
      [100, { credited: 0, creditedCents: 0, parked: 150 }, [], []],
    );
    const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
    const operationId = await placeOrder(activities.db, action);
    const report = await look('mended').result;
    const order = { operationId, withoutSilentUpstreams: false };
    const done = { endedRentals: 0, credited, parked, ...(more && { more }), listedPods: MANY };
    assert.ok(sizeOf([order, report, done]) < MIB / 4);
    await attempt('mended', (of) => of.resumeAfterRestore(order, report, done)).result;
    assert.equal((await activities.db('unknown_pods')).length, MANY);
    const [row] = await activities.db('operator_orders').where({ id: operationId });
    assert.deepEqual(
      [row?.status, (row?.result as unknown as { parked: number } | undefined)?.parked],
      ['done', PAYMENTS],
    );
    await activities.db('watermark').update({ confirmed_as: null });
  });

  it('tries a payment that can not be read again from the beginning, and names it at last', async () => {
    unreadable = 'pi_1';
    const input = { raisedAt: new Date().toISOString(), runId: 'undone' };
    const rebuild = (nth: number, before?: LoneActivity<unknown>) =>
      attempt('undone', (of) => of.rebuildPayments(input), { ...(before && { before }), nth });
    const first = rebuild(1);
    await assert.rejects(first.result, /tried again: pi_1 \(unknown\)/);
    away = 2;
    const second = rebuild(operationLimits.quickTries, first);
    await assert.rejects(second.result, /no answer/);
    away = undefined;
    // A later try goes on behind it, and still tells of it.
    assert.deepEqual((await rebuild(operationLimits.quickTries + 1, second).result).undone, [
      'pi_1 (unknown)',
    ]);
  });

  it('ends each rental once, whichever try', async () => {
    const { db } = activities;
    const endedAt = new Date(Date.now() - 60_000).toISOString();
    const items = rentals.map((rentalId) => ({ rentalId, status: 'running', endedAt }));
    await keepItems(db, 'ending', 'ended', items);
    const order = await placeOrder(db, { kind: 'reconcile_restored', withoutSilentUpstreams: false });
    const [{ no }] = (await db('rentals').where({ id: rentals[1]! }).select('no')) as [{ no: number }];
    await db.raw(`alter table stop_requests add constraint poison check (rental_no <> ${no})`);
    const end = (nth: number) => attempt('ending', (of) => of.endClosedRentals('ending', order), { nth });
    await assert.rejects(end(1).result, new RegExp(`tried again: ${rentals[1]}`));
    const doneAt = () => db('restore_items').where({ run_id: 'ending' }).orderBy('id').pluck('done_at');
    const before = await doneAt();
    assert.equal(before.filter((at) => at === null).length, 1);
    await db.raw('alter table stop_requests drop constraint poison');
    assert.deepEqual(await end(2).result, { ended: 3, undone: [] });
    const after = await doneAt();
    assert.deepEqual(
      before.filter((at) => at !== null),
      after.filter((_at, n) => before[n] !== null),
    );
    assert.equal((await db('stop_requests')).length, 3);
  });
});

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_one, n) => make(n));
}

function eventOf(n: number) {
  const object = { object: 'payment_intent', id: `pi_${n}`, metadata: { user_id: newId('usr') } };
  const told = { livemode: false, apiVersion: null, object, createdAt: new Date() };
  return { id: `evt_${n}`, kind: 'payment_intent.succeeded', ...told };
}

/** A payment of a user who signed up in the lost time. */
function paymentOf(paymentId: string): Payment {
  return {
    ...{ paymentId, status: 'succeeded', amountReceivedCents: 2_500, currency: 'usd', chargeId: null },
    ...{ receiptUrl: null, chargedAt: new Date(), customerId: null, topupId: newId('top') },
    ...{ userId: newId('usr'), failure: null, card: null },
  };
}

const lostIds = times(MANY, () => newId('rent'));
const attributes: Readonly<Record<string, unknown>> = { UserId: newId('usr'), PricePerHourCents: 148 };

/** Temporal's list of the rentals that were opened in the lost time. */
async function* lostRuns() {
  for (const workflowId of lostIds) {
    const typedSearchAttributes = { get: ({ name }: { name: string }) => attributes[name] };
    const times = { startTime: new Date(), closeTime: new Date() };
    yield await Promise.resolve({ workflowId, typedSearchAttributes, ...times });
  }
}

/** Temporal knows no run of the rentals that are live here. */
function knowsNone(): Promise<never> {
  const told = { code: 5, details: 'not found', metadata: {} };
  return Promise.reject(Object.assign(new Error('not found'), told));
}
