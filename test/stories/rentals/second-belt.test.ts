import assert from 'node:assert/strict';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { beginEarlier } from '../../support/money/begin-earlier.js';

describe('with every tick engine stopped, a rental', () => {
  let service: TestService;
  let renting: Renting;
  before(async () => {
    service = await startService({ shards: 0 });
    renting = new Renting(service);
  });
  after(() => service.stop());

  it('is charged by its own loop, and ends at the instant at which the money ends', async () => {
    const user = await service.signIn(b200.pricePerHourCents + 4);
    const id = await renting.openDirectly(user, b200, { beltMs: 1_000 });
    await renting.awaitStatus(id, 'running');
    await until('its own loop charged it', async () => (await renting.row(id)).charged_cents > 0);
    assert.equal(await service.db('meter_shards').first('shard'), undefined, 'nothing ticks');
    // The first hour has almost passed: its rest lasts for some seconds.
    await beginEarlier(service.db, [id], 3_600);
    const ended = await renting.awaitStatus(id, 'stopped');
    assert.equal(ended.stop_reason, 'balance_exhausted');
    assert.equal(netCents(ended), b200.pricePerHourCents + 4);
    assert.equal(netCents(ended), priceOf(ended));
    assert.deepEqual([ended.overage_cents, ended.written_off_cents], [0, 0]);
    await renting.assertAddsUp(user.user.id);
  });
});
