import assert from 'node:assert/strict';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting } from '../../support/story/renting.js';
import { toldEvents } from '../../support/story/told-events.js';
import { until } from '../../support/until.js';

const HOUR = 3_600;

describe('a rental', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  /** What the service saw of its machines. */
  const lists: { readonly answeredMs: number; readonly podIds: string[] }[] = [];

  before(async () => {
    service = await startService({
      wrapProvider: (provider) => ({
        ...provider,
        async listPods() {
          const pods = await provider.listPods();
          lists.push({ answeredMs: Date.now(), podIds: pods.map(({ podId }) => podId) });
          return pods;
        },
      }),
    });
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  it('runs, is metered, stops and gives back what was not used', async () => {
    const id = await renting.open(user, b200, { name: 'story' });
    const opened = await renting.wallet(user);
    assert.deepEqual([opened.available_cents, opened.reserved_cents], [10_000 - 3_992, 3_992]);
    assert.deepEqual(await renting.entries(user), [], 'a hold is no entry');

    await renting.awaitStatus(id, 'running');
    const shown = (await user.get(`/v1/rentals/${id}`)).body;
    const [pod] = await renting.pods(id);
    assert.deepEqual([shown.host, shown.port, shown.username], ['127.0.0.1', pod?.port, 'shadeform']);
    assert.match(shown.hostKeyFingerprint ?? '', /^SHA256:/);

    await until('the ledger ticked twice', async () => (await renting.entries(user)).length >= 2);
    const meter = (await user.get(`/v1/rentals/${id}/meter`)).body;
    assert.ok(meter.chargedCents >= 2 && meter.holdCents === 3_992 - meter.chargedCents);

    const answer = await renting.stop(user, id);
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.equal(answer.finalChargedCents, priceOf(stopped));
    assert.equal(answer.refundedCents, 3_992 - priceOf(stopped));
    assert.equal(stopped.stop_reason, 'user');
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted'],
    );
    const wallet = await renting.wallet(user);
    assert.deepEqual([wallet.available_cents, wallet.reserved_cents], [10_000 - priceOf(stopped), 0]);
    const told = (await toldEvents(service.db, user.user.id)).map(({ type }) => type);
    const steps = ['created', 'machine_found', 'ssh_answered', 'running', 'stopping', 'stopped'];
    assert.deepEqual(told, ['session.started', 'wallet.credited', ...steps.map((step) => `rental.${step}`)]);
    assert.ok((await renting.entries(user)).every(({ type }) => type === 'rental_charge'));
  });

  it('is stopped by itself at its auto-stop instant, to the millisecond', async () => {
    const id = await renting.open(user, b200, { autoStopAfterHours: 1.5 / HOUR });
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.equal(stopped.stop_reason, 'auto_stop');
    assert.equal(stopped.ended_at!.getTime() - stopped.running_at!.getTime(), 1_500);
    assert.equal(netCents(stopped), 2);
  });

  it('is stopped by itself at its spend limit, and costs no more', async () => {
    const id = await renting.open(user, b200, { maxSpendCents: 2 });
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.equal(stopped.stop_reason, 'spend_limit');
    assert.equal(netCents(stopped), 2);
  });

  it('ends at the first millisecond that the wallet can’t pay for, without overage', async () => {
    const poor = await service.signIn(3_992);
    const { id } = await renting.run(poor, b200);
    await renting.age(id, HOUR - 2);
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.equal(stopped.stop_reason, 'balance_exhausted');
    assert.equal(stopped.ended_at!.getTime() - stopped.running_at!.getTime(), HOUR * 1_000);
    assert.deepEqual([netCents(stopped), stopped.overage_cents, stopped.written_off_cents], [3_992, 0, 0]);
    const wallet = await renting.wallet(poor);
    assert.deepEqual([wallet.available_cents, wallet.reserved_cents], [0, 0]);
  });

  it('that is stopped while it is provisioned gives the hold back without an entry', async () => {
    await service.gpus.faults({ bootMs: 60_000 });
    const id = await renting.open(user, b200);
    const answer = await renting.stop(user, id);
    assert.deepEqual([answer.finalChargedCents, answer.refundedCents], [0, 3_992]);
    const stopped = await renting.awaitStatus(id, 'stopped');
    assert.deepEqual([stopped.running_at, stopped.stop_reason], [null, 'user']);
    assert.deepEqual(await renting.entries(user), []);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted'],
    );
  });

  it('whose machine never boots fails after the deadline: captured and refunded, net 0', async () => {
    await service.gpus.faults({ bootNever: 1 });
    const id = await renting.openDirectly(user, b200, { provisionDeadlineMs: 700 });
    const failed = await renting.awaitClosed(id);
    assert.equal(failed.status, 'failed');
    assert.match(failed.error ?? '', /did not answer within 1 seconds/);
    assert.deepEqual(await renting.entries(user), [
      { type: 'rental_charge', amount_cents: -3_992 },
      { type: 'refund', amount_cents: 3_992 },
    ]);
    assert.equal((await renting.wallet(user)).available_cents, 10_000);
    assert.deepEqual(
      (await renting.pods(id)).map(({ status }) => status),
      ['deleted'],
    );
  });

  for (const mode of ['error', 'vanish']) {
    it(`that loses its machine within a minute (${mode}) fails: everything is given back`, async () => {
      const { id } = await renting.run(user, b200);
      await until('something was charged', async () => (await renting.entries(user)).length > 0);
      const [pod] = await renting.pods(id);
      await service.gpus.crash(pod!.id, mode);
      const failed = await renting.awaitClosed(id);
      assert.equal(failed.status, 'failed');
      assert.match(failed.error ?? '', /lost within a minute/);
      assert.equal(netCents(failed), 0);
      const entries = await renting.entries(user);
      assert.equal(
        entries.reduce((sum, entry) => sum + entry.amount_cents, 0),
        0,
      );
      assert.equal(entries.filter(({ type }) => type === 'refund').length, 1);
      assert.equal((await renting.wallet(user)).available_cents, 10_000);
    });
  }

  it('that loses its machine later is stopped, and charged until it was last seen alive', async () => {
    const { id } = await renting.run(user, b200);
    await renting.age(id, 600);
    const [pod] = await renting.pods(id);
    await service.gpus.crash(pod!.id, 'vanish');
    const stopped = await renting.awaitClosed(id);
    assert.deepEqual([stopped.status, stopped.stop_reason], ['stopped', 'pod_lost']);
    // The end is the last list before the first one without the machine.
    const last = lists.findLastIndex(({ podIds }) => podIds.includes(pod!.id));
    const endedMs = stopped.ended_at!.getTime();
    // Its instant is taken before it is asked for, and after the one before it.
    const [before, gone] = [lists[last - 1]!, lists[last + 1]!];
    assert.ok(endedMs >= before.answeredMs, `ended ${before.answeredMs - endedMs} ms before its list`);
    assert.ok(endedMs <= gone.answeredMs, `ended ${endedMs - gone.answeredMs} ms after a list without it`);
    assert.equal(netCents(stopped), priceOf(stopped));
    assert.ok(netCents(stopped) >= 665);
  });
});
