import assert from 'node:assert/strict';
import { listStrayPods } from '../../../adapters/postgres/upkeep/upkeep.js';
import { ProviderError, type Provider } from '../../../adapters/providers/provider.js';
import type { TopupId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { cards, payPage } from '../../lab/processor/workbench.js';
import { requestOf } from '../../lab/provider/living-lab.js';
import { ageLoops } from '../../support/story/ageing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { getWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';

/** Pods whose deletes the upstream fails. */
const stuck = new Set<string>();

function withStuckPods(provider: Provider): Provider {
  return {
    ...provider,
    async terminate(podId) {
      if (stuck.has(podId)) throw new ProviderError('unknown', 'ending a pod: HTTP 500');
      await provider.terminate(podId);
    },
  };
}

/** The work that the schedules start. Each runs by hand here; in the service they come every half minute or so. */
describe('upkeep', () => {
  let service: TestService;

  before(async () => {
    service = await startService({ wrapProvider: withStuckPods });
  });
  afterEach(async () => {
    await fetch(`${service.processor.url}/lab/faults`, { method: 'DELETE' });
  });
  after(() => service.stop());

  it('sweep ends pods that carry our tags and belong to nobody, and one that fails keeps no other', async () => {
    const { provider } = service.gpus;
    const strays = await Promise.all([requestOf(), requestOf()].map((request) => provider.allocate(request)));
    const ids = strays.map(({ podId }) => podId);
    await until('they are listed', async () => {
      const listed = await service.db('pods').whereIn('pod_id', ids);
      return listed.length === ids.length;
    });
    assert.deepEqual(
      (await runUpkeepRound(service, 'sweep'))['ended'],
      [],
      'a fresh one may still get its attempt',
    );
    await service.db.raw(`update pods set first_seen_at = first_seen_at - interval '2 minutes'`);

    // The pod that is ended first fails.
    const [first] = await listStrayPods(service.db, 'lab', rentalLimits.attemptOpenMs);
    stuck.add(first?.podId ?? '');
    const { ended } = (await runUpkeepRound(service, 'sweep')) as { ended: string[] };
    assert.equal(ended.length, 1);
    assert.notEqual(ended[0], first?.tag);
    stuck.clear();
    // The next try comes only when it is due.
    await ageLoops(service.db, 20_000);
    await runUpkeepRound(service, 'sweep');
    await until('both are gone', async () => {
      const { pods } = await service.gpus.state();
      return pods.every(({ id, status }) => !ids.includes(id) || status === 'deleted');
    });
  });

  it('revive takes up a top-up whose workflow was terminated by hand', async () => {
    const { user, topupId, checkoutUrl } = await openTopup();
    await service.temporal.workflow.getHandle(topupId).terminate('by hand');
    await dropEvents();
    await payPage(checkoutUrl, cards.good);
    const { db } = service;
    // The reviver skips rows younger than a quarter of a minute: their workflow may be about to begin.
    await db('topups')
      .where({ id: topupId })
      .update({ created_at: db.raw(`created_at - interval '1 minute'`) });
    await until('it is credited', async () => {
      await runUpkeepRound(service, 'revive');
      return (await getWallet(db, user.user.id)).available_cents === 2_500;
    });
  });

  it('redeliver tells the workflow of an event whose signal was lost', async () => {
    const { user, topupId, checkoutUrl } = await openTopup();
    await payPage(checkoutUrl, cards.good);
    const { db } = service;
    const eventsOf = () => db('processor_events').where({ workflow_id: topupId });
    await until('its events are handled', async () => {
      const events = await eventsOf();
      return events.length > 0 && events.every(({ handled_at }) => handled_at !== null);
    });
    // Repeats it, since the signal of a late event may still be under way: that one signals the workflow as well.
    await until('the workflow is told', async () => {
      const received_at = db.raw(`received_at - interval '1 minute'`);
      await eventsOf().update({ handled_at: null, received_at });
      return (await runUpkeepRound(service, 'redeliver'))['workflows'] === 1;
    });
    await until('its events are handled', async () =>
      (await eventsOf()).every(({ handled_at }) => handled_at !== null),
    );
    assert.deepEqual(await runUpkeepRound(service, 'redeliver'), { workflows: 0 });
    assert.equal((await getWallet(db, user.user.id)).available_cents, 2_500);
  });

  async function openTopup() {
    const user = await service.signIn();
    const { body } = await user.post('/v1/billing/checkout', { amountCents: 2_500 });
    return { user, topupId: body.topupId as TopupId, checkoutUrl: body.checkoutUrl };
  }

  /** Makes the processor send no events about the next payments. */
  async function dropEvents(): Promise<void> {
    const body = JSON.stringify({ kind: 'event_drop', times: 100 });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${service.processor.url}/lab/faults`, { method: 'POST', headers, body });
  }
});
