import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { newId } from '../../../lab/processor/ids.js';
import { Store } from '../../../lab/processor/store.js';
import { cards, payPage, startWorkbench, until, type Workbench } from './workbench.js';

describe('the lab processor after a restart', () => {
  let bench: Workbench;
  before(async () => {
    bench = await startWorkbench({ retryDelaysMs: [30, 60_000] });
  });
  after(() => bench.stop());

  it('knows its customers, sessions, payments and keys, and shows its pages at its new address', async () => {
    const person = { userId: 'usr_1', email: 'one@example.com' };
    const { customerId } = await bench.processor.createCustomer(person);
    const input = {
      topupId: 'top_1',
      userId: 'usr_1',
      customerId,
      amountCents: 700,
      successUrl: 'http://shop.test/done',
      cancelUrl: 'http://shop.test/cancel',
    };
    const paid = await bench.processor.createCheckoutSession(input);
    await payPage(paid.url!, cards.good);
    const open = await bench.processor.createCheckoutSession({ ...input, topupId: 'top_2' });
    const before = await bench.state();

    await bench.restart();

    const after = await bench.state();
    assert.deepEqual(after.customers, before.customers);
    assert.deepEqual(after.payment_intents, before.payment_intents);
    assert.deepEqual(
      after.events.map(({ id, type }) => [id, type]),
      before.events.map(({ id, type }) => [id, type]),
    );
    assert.deepEqual(await bench.processor.createCustomer(person), { customerId });
    assert.equal((await bench.processor.createCheckoutSession(input)).sessionId, paid.sessionId);
    const reread = await bench.processor.getCheckoutSession(open.sessionId);
    assert.ok(reread.url?.startsWith(`${bench.lab.url}/`));
    assert.equal((await payPage(reread.url!, cards.good)).status, 303);
    const done = await bench.processor.getCheckoutSession(paid.sessionId);
    assert.equal((await fetch(done.payment!.receiptUrl!)).status, 200);
  });

  it('takes up the webhooks that were pending', async () => {
    bench.receiver.answers.push(500, 500);
    const customer = await bench.stripe.customers.create({ email: 'pending@example.com' });
    const isOurs = ({ body }: { body: Buffer }): boolean => body.includes(customer.id);
    await bench.receiver.waitFor(isOurs, 2);
    await until(async () => (await bench.state()).deliveries.at(-1)?.attempts === 2, 'the second attempt');
    // The next retry is a minute away: only the restart can deliver it now.
    await bench.restart();
    await bench.receiver.waitFor(isOurs, 3);
  });
});

describe('the lab processor’s store', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'lab-store-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  function card(id: string): { id: string; number: string; setUp: boolean; spent: boolean } {
    return { id, number: '4242424242424242', setUp: false, spent: false };
  }

  it('keeps the whole of a transaction or nothing of it', () => {
    const store = new Store(dataDir);
    store.transact(() => store.put('cards', card('pm_1')));
    assert.throws(() =>
      store.transact(() => {
        store.put('cards', { ...card('pm_1'), spent: true });
        store.put('cards', card('pm_2'));
        store.remove('cards', 'pm_1');
        throw new Error('in the middle');
      }),
    );
    assert.deepEqual(store.list('cards'), [card('pm_1')]);
    assert.deepEqual(new Store(dataDir).list('cards'), [card('pm_1')]);
  });

  it('leaves out a line that was being written when the process was killed', async () => {
    const store = new Store(dataDir);
    store.transact(() => store.put('cards', card('pm_1')));
    const file = path.join(dataDir, 'processor.jsonl');
    await appendFile(file, '[["cards","pm_2",{"id":"pm');
    const warnings: string[] = [];
    const reread = new Store(dataDir, (message) => warnings.push(message));
    assert.deepEqual(reread.list('cards'), [card('pm_1')]);
    assert.equal(warnings.length, 1);
    assert.deepEqual(new Store(dataDir).list('cards'), [card('pm_1')], 'the file is whole again');
    assert.match(await readFile(file, 'utf8'), /\n$/);
  });

  it('writes only inside a transaction', () => {
    const store = new Store(dataDir);
    assert.throws(() => store.put('cards', card('pm_1')), /outside a transaction/);
  });

  it('makes ids that are letters and digits, and never the same', () => {
    const ids = new Set(Array.from({ length: 1000 }, () => newId('pi')));
    assert.equal(ids.size, 1000);
    for (const id of ids) assert.match(id, /^pi_[0-9A-Za-z]{24}$/);
  });
});
