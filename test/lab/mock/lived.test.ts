import assert from 'node:assert/strict';
import { GpuRental } from '@gpu-rental/client';
import { liveThrough, livedMs, type LivedAccount } from '../../../lab/mock/lived/ada.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { SteeredClock } from '../../../lab/mock/steered-clock.js';
import { until } from '../../support/until.js';

const endsAt = Date.parse('2026-11-18T14:05:09Z');

describe('a user of the mock who has lived for six weeks', () => {
  const clock = new SteeredClock(endsAt - livedMs);
  let mock: MockServer;
  let lived: LivedAccount;
  let api: GpuRental;
  before(async () => {
    mock = await startMock({ port: 0, clock });
    lived = await liveThrough(mock, clock);
    api = new GpuRental({ baseUrl: mock.url });
    await api.auth.verifyCode({ email: lived.email, code: '123456' });
  });
  after(() => mock.stop());

  async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
    const found: T[] = [];
    for await (const each of list) found.push(each);
    return found;
  }

  it('has met each fate of a rental and of a payment', async () => {
    const rentals = await all(api.rentals.list());
    const stories = rentals.map(({ status, stopReason }) => [status, stopReason ?? []].flat().join(' '));
    assert.deepEqual([...new Set(stories)].toSorted(), [
      'failed',
      'provisioning',
      'running',
      'stopped auto_stop',
      'stopped spend_limit',
      'stopped user',
    ]);
    const topups = await all(api.topups.list());
    assert.deepEqual([...new Set(topups.map(({ source, status }) => `${source} ${status}`))].toSorted(), [
      ...['auto_topup failed', 'auto_topup succeeded', 'checkout succeeded'],
      ...['saved_card failed', 'saved_card succeeded'],
    ]);
    const invoices = await api.invoices.list();
    assert.deepEqual(invoices.map(({ status }) => status).toSorted(), ['paid', 'void']);
    assert.equal((await api.rentals.get(lived.runningId)).status, 'running');
    assert.equal((await api.rentals.get(lived.endedId)).status, 'stopped');
    assert.ok((await all(api.webhooks.deliveries(lived.webhookId))).length > 5);
  });

  it('has a ledger that adds up to the cent', async () => {
    const entries = (await all(api.wallet.ledger({ pageSize: 200 }))).toReversed();
    assert.ok(entries.length > 500);
    let balance = 0;
    for (const { amountCents, balanceAfterCents } of entries) {
      balance += amountCents;
      assert.equal(balanceAfterCents, balance);
    }
    assert.equal((await api.wallet.get()).totalCents, balance);
  });

  it('stands at the end of the story, and goes on once its clock is let go', async () => {
    assert.equal(clock.now().toISOString(), new Date(endsAt).toISOString());
    const booting = (await all(api.rentals.list({ status: 'provisioning' })))[0]!;
    const halt = clock.letGo();
    await until('the machine that booted runs', async () => {
      return (await api.rentals.get(booting.id)).status === 'running';
    });
    assert.ok(clock.now().getTime() > endsAt);
    halt();
  });
});
