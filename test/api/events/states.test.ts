import assert from 'node:assert/strict';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { openStream, type StreamClient } from '../../support/http/event-stream.js';
import { credit, getWallet, insertRunning } from '../../support/money/money.js';
import { until } from '../../support/until.js';

describe('the states that a stream tells', () => {
  let api: TestApi;
  let user: SignedIn;
  const opened: StreamClient[] = [];

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.cut();
  });
  after(() => api.stop());

  async function open(): Promise<StreamClient> {
    const stream = await openStream(user);
    opened.push(stream);
    return stream;
  }

  it('are the balance once, and again only when it has changed, without an id', async () => {
    const stream = await open();
    const first = await stream.await('balance');
    assert.deepEqual(
      [first.id, { ...first.data, readAt: undefined }],
      [
        undefined,
        {
          ...{ availableCents: 0, reservedCents: 0, totalCents: 0, burnPerHourCents: 0, ledgerSeq: 0 },
          readAt: undefined,
        },
      ],
    );
    const other = await open();
    await other.await('balance');
    await until('two more looks', () => performance.now() - first.atMs > 2_500);
    assert.equal(stream.named('balance').length, 1);
    await credit(api.db, user.user.id, 700);
    const second = await stream.await('balance', 2);
    assert.deepEqual([second.data['totalCents'], second.data['ledgerSeq']], [700, 1]);
    assert.ok(stream.heard.every(({ name, id }) => name !== 'balance' || id === undefined));
  });

  it('are the meter of each rental that runs', async () => {
    await credit(api.db, user.user.id, 10_000);
    const wallet = await getWallet(api.db, user.user.id);
    const rentalId = await insertRunning(api.db, wallet, { priceCents: 3_600, ranMs: 0 });
    const stream = await open();
    const first = await stream.await('meter');
    const { readAt, runningAt, ...data } = first.data;
    assert.ok(typeof readAt === 'string' && typeof runningAt === 'string');
    assert.deepEqual(data, {
      ...{ rentalId, status: 'running', pricePerHourCents: 3_600, chargedCents: 0, holdCents: 3_600 },
      endedAt: null,
    });
    assert.equal((await stream.await('balance')).data['burnPerHourCents'], 3_600);
    await api.db('meters').where({ wallet_id: wallet.id }).update({ hold_cents: 3_590, charged_cents: 10 });
    const second = await stream.await('meter', 2);
    assert.deepEqual([second.data['chargedCents'], second.data['holdCents']], [10, 3_590]);
    const tick = stream.named('meter').at(-1)!.atMs;
    assert.ok(tick - first.atMs >= 900, 'not more often than once a second');
  });
});
