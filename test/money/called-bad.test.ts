import assert from 'node:assert/strict';
import { unnamedSeller } from '../../domain/payments/receipt.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { judgeReports } from '../../activities/machines/machine-proofs.js';
import { createRentalActivities } from '../../activities/rentals/rental.js';
import { ensureProvider } from '../../adapters/postgres/catalog/catalog.js';
import type { Database } from '../../adapters/postgres/database.js';
import { insertAttempt } from '../../adapters/postgres/machines/attempts.js';
import { recordBadMachine } from '../../adapters/postgres/machines/proofs.js';
import { claimUntoldNotices } from '../../adapters/postgres/operators/operator-notices.js';
import { readFreeMachines } from '../../adapters/postgres/rentals/free-machines.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { Provider } from '../../adapters/providers/provider.js';
import { newId } from '../../adapters/ids.js';
import { HOUR, SECOND } from '../../domain/durations.js';
import type { RentalId } from '../../domain/ids.js';
import type { ListedHardware } from '../../domain/machines/claims.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { creditTopup } from '../../money/payments/credit.js';
import { tick } from '../../money/metering/tick.js';
import { paymentOf } from '../support/activities/scripted-processor.js';
import { insertTopup } from '../support/money/factories.js';
import { getRental, insertRunning, insertWallet, onVerifiedDatabase } from '../support/money/money.js';

const whole = { shard: 0, shards: 1 };
/** A cent each second. */
const priceCents = 3_600;
const BAD = 'gpu-proof 1 0\nTesla T4, 15360 MiB, 0, 570.133.20, [N/A]\n';
const WELL = 'gpu-proof 1 0\nNVIDIA H100 80GB HBM3, 81559 MiB, 0, 570.133.20, Disabled\n';

describe('the end of a machine that calls itself bad (decision 175)', () => {
  let db: Database;
  let deps: ActivityDeps;
  let steps: ReturnType<typeof createRentalActivities>;
  onVerifiedDatabase(async (opened) => {
    db = opened.db;
    await ensureProvider(db, 'lab');
    deps = { db } as ActivityDeps;
    steps = createRentalActivities(deps);
  });
  beforeEach(() => claimUntoldNotices(db, null));

  interface Case {
    readonly hasPaid?: boolean;
    readonly listed?: ListedHardware;
    readonly ranMs?: number;
    readonly toldMs?: number;
    readonly body?: string;
    readonly wallet?: Awaited<ReturnType<typeof insertWallet>>;
  }

  /** Runs a machine that tells this, this long after its start, and does what the watcher and its workflow do then. */
  async function told(told: Case, before: (id: RentalId) => Promise<unknown> = () => Promise.resolve()) {
    const { hasPaid = true, ranMs = 90 * SECOND, toldMs = 30 * SECOND, body = BAD, listed } = told;
    const wallet = told.wallet ?? (await insertWallet(db, 100_000));
    if (hasPaid) await pay(wallet.user_id);
    const id = await insertRunning(db, wallet, { priceCents, ranMs });
    await db('rentals').where({ id }).update({ model: 'H100_SXM_80GB', gpu_count: 1 });
    const attempt = await insertAttempt(db, {
      ...{ rentalId: id, deployment: 'test', providerCode: 'lab', listingId: newId('lst'), offerId: 'o' },
      ...{ pricePerHourCents: priceCents, endBy: null, deadlineMs: 60_000 },
    });
    assert.equal((await getRental(db, id)).tag, attempt.tag);
    await db('pods').insert({
      ...{ provider_code: 'lab', pod_id: `pod-${id}`, tag: attempt.tag, status: 'active' },
      ...{ upstream_status: 'active', first_seen_at: db.raw('clock_ms()') },
      hardware: listed === undefined ? null : (JSON.stringify(listed) as never),
    });
    await db.raw(
      `insert into machine_reports (attempt_id, no, received_at, body)
       select :attempt, 1, running_at + :toldMs * interval '1 millisecond', :body from rentals where id = :id`,
      { attempt: attempt.id, toldMs, body, id },
    );
    await before(id);
    const intents = await judgeReports(deps, { code: 'lab', proof: 'container' } as Provider);
    await steps.meterRental(id, HOUR);
    await steps.settleRental(id);
    const rental = await getRental(db, id);
    const finding = await db('bad_machines').where({ attempt_id: attempt.id }).first();
    const notices = await claimUntoldNotices(db, null);
    return { intents, rental, finding, notices: notices.map(({ subject }) => subject) };
  }

  async function pay(userId: RentalRow['user_id']): Promise<void> {
    const topup = await insertTopup(db, userId);
    const { id: topupId, amount_cents: amountCents } = topup;
    await creditTopup(db, topupId, paymentOf({ topupId, userId, amountCents }), unnamedSeller);
  }

  const listed: ListedHardware = { machine: 'm-1', model: 'H100_SXM_80GB', gpuCount: 1 };
  const net = ({ charged_cents, refunded_cents }: RentalRow): number => charged_cents - refunded_cents;

  it('comes at its word, and its bill stands where nobody else says so', async () => {
    for (const [what, hardware] of [
      ['the list agrees with what was rented', listed],
      ['the list tells nothing', { machine: null, model: null, gpuCount: null }],
      ['no list shows it', undefined],
    ] as const) {
      const { intents, rental, finding, notices } = await told({ ...(hardware && { listed: hardware }) });
      assert.equal(intents, 1, what);
      assert.deepEqual([rental.status, rental.stop_reason, net(rental)], ['stopping', 'pod_lost', 30], what);
      assert.match(rental.error ?? '', /not what you rented.*You were charged until then/);
      assert.deepEqual([finding?.outcome, finding?.confirmed], ['billed', false]);
      assert.deepEqual(notices, [`A machine at lab says it is bad: ${rental.id}`]);
    }
  });

  for (const [what, hardware] of [
    ['another model', { ...listed, machine: null, model: 'L4' }],
    ['fewer cards', { ...listed, machine: null, gpuCount: 0 }],
  ] as const) {
    it(`gives all back where the list shows ${what}, and tells no operator`, async () => {
      const { rental, finding, notices } = await told({ listed: hardware });
      assert.deepEqual([rental.status, net(rental)], ['failed', 0]);
      assert.match(rental.error ?? '', /You were not charged/);
      assert.deepEqual([finding?.outcome, finding?.confirmed], ['refunded', true]);
      assert.deepEqual(notices, []);
    });
  }

  it('gives all back where another user called that machine bad within a week, and not where its own renter did', async () => {
    const wallet = await insertWallet(db, 100_000);
    const at = (machine: string): ListedHardware => ({ ...listed, machine });
    assert.equal((await told({ wallet, listed: at('m-2') })).finding?.outcome, 'billed');
    const again = await told({ wallet, hasPaid: false, listed: at('m-2') });
    assert.equal(again.finding?.outcome, 'billed', 'its own word twice');
    const other = await told({ listed: at('m-2') });
    assert.deepEqual([other.finding?.outcome, other.rental.status], ['refunded', 'failed']);
    await db('bad_machines').update({ found_at: db.raw(`clock_ms() - interval '7 days 1 second'`) });
    assert.equal((await told({ listed: at('m-2') })).finding?.outcome, 'billed', 'too long ago');
    assert.equal((await told({ listed: at('m-3') })).finding?.outcome, 'billed', 'another machine');
  });

  it('takes no word of another user who never paid, or may be the same person', async () => {
    const outcomeOf = async (machine: string, between: Parameters<typeof told>[0][]) => {
      let outcome: string | undefined;
      for (const each of between) {
        outcome = (await told({ ...each, listed: { ...listed, machine } })).finding?.outcome;
      }
      return outcome;
    };
    assert.equal(await outcomeOf('m-4', [{ hasPaid: false }, {}]), 'billed');
    for (const [kind, value] of [
      ['card', 'fp_one'],
      ['address', '198.51.100.7'],
    ] as const) {
      const wallets = [await insertWallet(db, 100_000), await insertWallet(db, 100_000)];
      for (const { user_id } of wallets) await db('account_ties').insert({ user_id, kind, value });
      const theirs = wallets.map((wallet) => ({ wallet }));
      assert.equal(await outcomeOf(`m-${kind}`, theirs), 'billed', kind);
      assert.equal(await outcomeOf(`m-${kind}`, [{}]), 'refunded', 'a stranger is another one');
    }
  });

  it('gives nothing back to who never paid, after a minute, or beyond the refunds of a day', async () => {
    const other = { ...listed, machine: null, model: 'L4' };
    for (const more of [{ hasPaid: false }, { toldMs: 61 * SECOND }]) {
      const { rental, finding, notices } = await told({ listed: other, ...more });
      assert.deepEqual([rental.status, finding?.outcome, finding?.confirmed], ['stopping', 'billed', true]);
      assert.equal(notices.length, 1);
    }
    const wallet = await insertWallet(db, 100_000);
    const outcomes: (string | undefined)[] = [];
    await pay(wallet.user_id);
    for (let n = 0; n <= rentalLimits.fullRefundsPerDay; n += 1) {
      outcomes.push((await told({ wallet, hasPaid: false, listed: other })).finding?.outcome);
    }
    assert.deepEqual(outcomes, [
      ...Array.from({ length: rentalLimits.fullRefundsPerDay }, () => 'refunded'),
      'billed',
    ]);
  });

  it('is the stop where that came before, whatever is told later', async () => {
    for (const ticks of [true, false]) {
      const { rental, finding } = await told({ listed: { ...listed, model: 'L4' } }, async (id) => {
        await db.raw(
          `insert into stop_requests (rental_no, requested_by, requested_at)
           select no, 'user', running_at + interval '20 seconds' from rentals where id = ?`,
          [id],
        );
        if (ticks) await tick(db, whole);
      });
      assert.deepEqual([rental.stop_reason, net(rental)], ['user', 20]);
      assert.equal(finding, undefined);
    }
  });

  it('is no end where nothing is bad: it is judged once, and leaves nothing to do', async () => {
    const well = await told({ body: WELL });
    assert.deepEqual([well.intents, well.rental.status, well.finding], [0, 'running', undefined]);
    const other = await told({ body: 'use 1 2 3' });
    assert.deepEqual([other.intents, other.rental.status], [0, 'running']);
    assert.deepEqual((await db('machine_reports').whereNot({ verdict: 'bad' }).pluck('verdict')).sort(), [
      'not_told',
      'ok',
    ]);
    assert.equal(await judgeReports(deps, { code: 'lab', proof: 'container' } as Provider), 0);
  });

  it('costs nothing where it said so before its billing began', async () => {
    const { rental } = await told({ toldMs: -5 * SECOND, ranMs: 20 * SECOND });
    assert.equal(net(rental), 0);
  });

  it('counts as a free machine where its bill stands and was hardly begun', async () => {
    for (const [toldMs, counted] of [
      [-5 * SECOND, 1],
      [5 * SECOND, 1],
      [rentalLimits.freeMachines.minMs, 0],
    ] as const) {
      const { rental } = await told({ toldMs });
      assert.equal(rental.stop_reason, 'pod_lost');
      const seen = await db.transaction((trx) =>
        readFreeMachines(trx, rental.user_id, rentalLimits.freeMachines),
      );
      assert.equal(seen.machines.length, counted, `${toldMs}`);
    }
  });

  it('is found once for a purchase', async () => {
    const { rental } = await told({});
    const { id: rentalId, tag } = rental;
    await recordBadMachine(db, { rentalId, tag, faults: ['x'], outcome: 'refunded', confirmed: true });
    const rows = await db('bad_machines').where({ rental_id: rentalId });
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['billed'],
    );
  });
});
