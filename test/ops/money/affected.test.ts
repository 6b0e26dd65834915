import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import { getLedgerIds } from '../../../adapters/postgres/ledger/ledger-ids.js';
import { readProgress } from '../../../adapters/postgres/operators/order-items.js';
import type { OperationId, RentalId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { getWallet } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { orderAffected } from '../../support/story/refunding.js';
import { ToldLedger } from '../../support/money/told-ledger.js';
import { until } from '../../support/until.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe('ops affected', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(service.db), [], 'everything adds up after each test');
    // The next test's windows must hold no rental of this one.
    await service.db.raw(`update rentals set provider_code = 'over' where provider_code = 'lab'`);
  });

  const ops = (...args: string[]): Promise<OpsResult> => runOps(service, 'affected', ...args);
  const orders = (...args: string[]): Promise<OpsResult> => runOps(service, 'orders', ...args);

  /** A settled rental at 360 cents an hour that ran for this long until now. */
  async function rented(user: SignedIn, ranMs: number): Promise<RentalId> {
    const told = new ToldLedger(service.db, user.user.id);
    const id = await told.runMachine(ranMs);
    await told.stopMachine(id);
    return id;
  }

  /** The options for a window between two instants, each this long ago. */
  function windowOf(fromMs: number, toMs: number, provider = 'lab'): string[] {
    const at = (ms: number): string => new Date(Date.now() - ms).toISOString();
    return ['--provider', provider, '--from', at(fromMs), '--to', at(toMs)];
  }

  const why = ['--reason', 'their network was down', '--yes'];
  const idIn = (text: string): OperationId => /op_\w{26}/.exec(text)![0] as OperationId;
  const available = async ({ user }: SignedIn): Promise<number> =>
    (await getWallet(service.db, user.id)).available_cents;

  it('lists who had a machine then, and what is left to give back', async () => {
    const [ann, bea] = [await service.signIn(10_000), await service.signIn(10_000)];
    const [one, two] = [await rented(ann, 30 * MINUTE), await rented(bea, 12 * MINUTE)];
    const window = windowOf(20 * MINUTE, 10 * MINUTE);
    const { code, out, err } = await ops(...window);
    assert.equal(code, 0, err);
    const lines = out.trimEnd().split('\n');
    assert.match(
      lines.find((line) => line.startsWith(one))!,
      new RegExp(`stopped   ${ann.user.id}  2.*Z until 2.*Z  60 cents charged, 60 left$`),
    );
    assert.match(
      lines.find((line) => line.startsWith(two))!,
      / {2}1[123] cents charged, 1[123] left$/,
    );
    assert.match(lines.at(-1)!, /^2 rentals of 2 users: 7[123] cents charged, 7[123] left$/);
    const { totals, rentals } = JSON.parse((await ops(...window, '--json')).out) as {
      totals: Record<string, number>;
      rentals: { rentalId: string; refundableCents: number }[];
    };
    assert.deepEqual([totals['rentals'], totals['users'], totals['refundedCents']], [2, 2, 0]);
    assert.equal(rentals.find(({ rentalId }) => rentalId === one)?.refundableCents, 60);
  });

  it('names the fault of a wrong request', async () => {
    const wrong: [string[], RegExp][] = [
      [windowOf(HOUR, 0, 'nowhere'), /There is no upstream nowhere: see ops providers/],
      [windowOf(MINUTE, HOUR), /--from \(.*\) must be before --to/],
      [windowOf(MINUTE, -HOUR), /--to \(.*\) is in the future/],
      [['--provider', 'lab', '--from', '2026-11-21T09:00:00', '--to', '2026-11-22'], /Use a valid time/],
      [['--provider', 'lab', '--from', '2026-11-21'], /required option '--to/],
    ];
    for (const [options, message] of wrong) {
      const { code, err } = await ops(...options);
      assert.equal(code, 2);
      assert.match(err, message);
    }
    const none = windowOf(40 * HOUR, 39 * HOUR);
    assert.match((await ops(...none)).out, /^No machine of lab was billed between/);
    const refund = await ops('refund', ...none, ...why);
    assert.equal(refund.code, 2);
    assert.match(refund.err, /No machine of lab was billed between/);
  });

  it('gives it back by one order, which can be repeated and gives nothing twice', async () => {
    const user = await service.signIn(10_000);
    const ids = [await rented(user, 30 * MINUTE), await rented(user, 40 * MINUTE)];
    const before = await available(user);
    const window = windowOf(20 * MINUTE, 10 * MINUTE);
    const dry = await ops('refund', ...window, ...why, '--dry-run');
    assert.match(
      dry.out,
      /^Would do as ada: {"kind":"refund_rentals","providerCode":"lab",.*"amountCents":120,"rentals":2}/,
    );
    const first = await ops('refund', ...window, ...why);
    assert.equal(first.code, 0, first.err);
    assert.equal(first.out, 'Done: rentals 2, refundedCents 120\n');
    const id = idIn(first.err);
    const again = await ops('refund', ...window, ...why, '--operation', id);
    assert.deepEqual([again.code, again.out], [0, first.out]);
    const other = await ops('refund', ...windowOf(25 * MINUTE, 1 * MINUTE), ...why, '--operation', id);
    assert.match(other.out, /^Refused \(idempotency_conflict\)/);
    assert.equal(await available(user), before + 120);

    const over = await ops('refund', ...window, ...why);
    assert.equal(over.code, 2);
    assert.match(over.err, /nothing to refund: 120 cents charged, 120 already refunded, 0 left/);
    assert.match((await orders('show', id)).out, /^items +2 of 2 rentals are done, 120 cents$/m);
    assert.match(
      (await orders('items', id)).out,
      new RegExp(`${ids[0]}  ${user.user.id}  60 cents  60 refunded at`),
    );
    assert.match((await orders('--all')).out, new RegExp(`${id}  done +refund_rentals  120 cents`));
    for (const about of [id, ids[1]!, user.user.id]) {
      const { out } = await runOps(service, 'actions', ...(about === id ? [] : ['--about', about]));
      assert.match(out, new RegExp(`${id} refund_rentals by ada: their network was down`));
    }
    assert.match(
      (await runOps(service, 'rentals', 'show', ids[0]!)).out,
      /60 cents were given back by an order of many/,
    );
    const sheet = await runOps(service, 'statement', '--rental', ids[0]!);
    assert.equal(sheet.code, 0);
    assert.match(sheet.out, new RegExp(`by hand +60 cents on top: ${id}`));
  });

  it('is shown to the user: in the statement, and by why each entry is there', async () => {
    const user = await service.signIn(10_000);
    await rented(user, 30 * MINUTE);
    const { code } = await ops('refund', ...windowOf(20 * MINUTE, 10 * MINUTE), ...why);
    assert.equal(code, 0);
    const wallet = await getWallet(service.db, user.user.id);
    const entryId = (await getLedgerIds(service.db)).of(wallet.id, wallet.seq);
    const { body } = await user.get(`/v1/billing/ledger/${entryId}/explain`);
    assert.match(
      String((body as { why?: string }).why),
      /^\$0\.60 was added to your wallet: an operator did this by hand: their network was down/,
    );
    const span = { from: '2026-01-01', to: new Date(Date.now() + HOUR).toISOString() };
    const statement = await user.get(`/v1/billing/statement?${new URLSearchParams(span).toString()}`);
    assert.match(JSON.stringify(statement.body), /"type":"refund","entries":1,"amountCents":60/);
    const { body: audit } = await user.get('/v1/audit?kind=changed_by_operator');
    assert.match(JSON.stringify(audit), /"action":"refund_rentals"/);
    const mails = await service.db('mail_outbox').where({ recipient: user.user.email });
    assert.ok(mails.some(({ subject }) => subject === 'We added $0.60 to your wallet'));
  });

  it('waits for a second operator where all of it together is above the limit of one', async () => {
    const [ann, bea] = [await service.signIn(100_000), await service.signIn(100_000)];
    for (const user of [ann, bea]) await rented(user, 100 * HOUR);
    const before = await available(ann);
    const asked = await ops('refund', ...windowOf(99 * HOUR, HOUR), ...why);
    assert.equal(asked.code, 3, asked.err);
    const id = idIn(asked.out);
    assert.equal(await available(ann), before);
    assert.equal((await orders('approve', id, '--yes')).code, 1);
    const approved = await runOps({ ...service, operator: 'bob' }, 'orders', 'approve', id, '--yes');
    assert.deepEqual(
      [approved.code, approved.out],
      [0, 'Done: rentals 2, refundedCents 70560\n'],
      approved.err,
    );
    assert.equal(await available(ann), before + 35_280);
  });

  describe('with a rental that can’t be given anything', () => {
    let good: SignedIn;
    let bad: SignedIn;
    let badId: RentalId;
    let goodId: RentalId;
    let orderId: OperationId;

    beforeEach(async () => {
      [bad, good] = [await service.signIn(10_000), await service.signIn(10_000)];
      [badId, goodId] = [await rented(bad, 30 * MINUTE), await rented(good, 30 * MINUTE)];
      const { id } = await getWallet(service.db, bad.user.id);
      await service.db.raw(`create or replace function refuse_refund() returns trigger language plpgsql as
        $$ begin if new.wallet_id = ${id} then raise exception 'this wallet is sick'; end if; return new; end $$`);
      await service.db.raw(`create trigger refuse_refund before insert on ledger_entries
        for each row when (new.type = 'refund') execute function refuse_refund()`);
      orderId = newId('op');
      // The item has failed eleven times: the next failure sets it aside for an hour.
      await service.db('stuck_items').insert({
        ...{ duty: 'refund', item: `${orderId} ${badId}`, attempts: 11, last_error: 'x' },
        ...{ first_failed_at: new Date(), last_failed_at: new Date(), next_attempt_at: new Date(0) },
      });
    });

    /** Begins the order as the ops command does, without its wait of half a minute. */
    async function begin(): Promise<void> {
      const window = { from: new Date(Date.now() - 20 * MINUTE), to: new Date(Date.now() - 10 * MINUTE) };
      await orderAffected(service.db, window, [badId, goodId], { id: orderId });
      await service.temporal.workflow.start('operation', {
        ...{ workflowId: orderId, taskQueue: taskQueues.rentals, args: [{ operationId: orderId }] },
      });
      await untilOneIsLeft();
    }

    const untilOneIsLeft = () =>
      until('one of them is done and the other one is set aside', async () => {
        const { done, failing, nextTryMs } = await readProgress(service.db, orderId);
        return done === 1 && failing === 1 && (nextTryMs ?? 0) > HOUR / 2;
      });

    afterEach(mend);

    async function mend(): Promise<void> {
      await service.db.raw('drop trigger if exists refuse_refund on ledger_entries');
    }
    const done = () =>
      until('the order is done', async () => {
        const order = await service.db('operator_orders').where({ id: orderId }).first();
        return order?.status === 'done';
      });
    const given = async (user: SignedIn): Promise<number> => {
      const { id } = await getWallet(service.db, user.user.id);
      const entries = await service.db('ledger_entries').where({ wallet_id: id, type: 'refund' });
      return entries.reduce((sum, { amount_cents }) => sum + amount_cents, 0);
    };

    it('gives the others theirs, tells which one fails, and is done once it is put back', async () => {
      const window = windowOf(20 * MINUTE, 10 * MINUTE);
      const refund = () =>
        runOps(
          { ...service, waitMs: 1_000 },
          'affected',
          'refund',
          ...window,
          ...why,
          '--operation',
          orderId,
        );
      assert.equal((await refund()).code, 2);
      await untilOneIsLeft();
      const { code, out, err } = await refund();
      assert.equal(code, 2, err);
      assert.match(out, /^Still running: 1 of 2 rentals are done, 60 cents; 1 failed and are tried again\./);
      assert.deepEqual([await given(good), await given(bad)], [60, 0]);
      assert.match(
        (await orders('items', orderId)).out,
        new RegExp(`^${badId}  .*12 tries failed.*this wallet is sick`),
      );
      assert.match(
        (await runOps(service, 'set-aside')).out,
        new RegExp(`refund  ${orderId} ${badId}  12 tries`),
      );
      await mend();
      const item = `${orderId} ${badId}`;
      const retried = await runOps(service, 'set-aside', 'retry', '--item', item, '--reason', 'mended');
      assert.equal(retried.code, 0, retried.err);
      await done();
      assert.deepEqual([await given(good), await given(bad)], [60, 60]);
      assert.equal(await service.db('stuck_items').where({ item }).first(), undefined);
    });

    it('goes on though its run was ended by hand', async () => {
      await begin();
      await service.temporal.workflow.getHandle(orderId).terminate('a slip');
      await mend();
      await service
        .db('stuck_items')
        .where({ item: `${orderId} ${badId}` })
        .delete();
      // A run that has just ended may be listed as open for a moment.
      await until('it has a run again, which ends', async () => {
        await runUpkeepRound(service, 'revive');
        return (await service.db('operator_orders').where({ id: orderId }).first())?.status === 'done';
      });
      assert.deepEqual([await given(good), await given(bad)], [60, 60]);
    });

    it('does nothing more once it is rejected', async () => {
      await begin();
      assert.equal((await orders('reject', orderId, '--reason', 'the wrong window', '--yes')).code, 0);
      await mend();
      await service.temporal.workflow.getHandle(orderId).signal('look');
      assert.deepEqual(await service.temporal.workflow.getHandle(orderId).result(), {
        ...{ outcome: 'refused', code: 'rejected' },
      });
      assert.deepEqual([await given(good), await given(bad)], [60, 0]);
    });
  });
});
