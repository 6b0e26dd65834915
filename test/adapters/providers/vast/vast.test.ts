import assert from 'node:assert/strict';
import { createVastProvider } from '../../../../adapters/providers/vast/vast.js';
import type { ProviderError } from '../../../../adapters/providers/provider.js';
import {
  API_KEY,
  login,
  newRenterKey,
  startLivingLab,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import { isOfKind } from '../upstream/scripted-upstream.js';
import { turnBudget } from '../upstream/turn-budget.js';

describe('the adapter of Vast', () => {
  let lab: LivingLab;
  before(async () => {
    lab = await startLivingLab();
  });
  after(() => lab.stop());
  afterEach(() => lab.clearFaults());

  it('stops at once, for operators, while the account holds an SSH key', async () => {
    await lab.faults({ accountKey: true });
    const isUnfit = (error: ProviderError): boolean => {
      assert.equal(error.details.unfitAccount, true);
      return isOfKind(error, 'refused');
    };
    await assert.rejects(lab.vast.listOffers(), isUnfit);
    // A process that has seen no list yet looks before it buys.
    const options = { code: 'other', url: `${lab.url()}/vast`, apiKey: API_KEY, deployment: 'test' };
    await assert.rejects(createVastProvider(options).allocate(vastRequestOf()), isUnfit);
    assert.deepEqual((await lab.state()).pods, []);
    await lab.clearFaults();
    const offers = await lab.vast.listOffers();
    assert.ok(offers.length > 0);
    assert.equal(
      new Set(offers.map(({ host }) => host)).size,
      offers.length,
      'each is on a machine of its own',
    );
  });

  it('opens a machine for the renter alone, whatever key got in before its script ran', async () => {
    const { tag, ...rest } = vastRequestOf({ publicKeys: [newRenterKey().line, newRenterKey('rsa').line] });
    await lab.vast.allocate({ tag, ...rest });
    const { port } = await untilActive(lab.vast, tag);
    const none = vastRequestOf();
    await lab.vast.allocate(none);
    const closed = await untilActive(lab.vast, none.tag);
    for (const each of [port, closed.port]) {
      const entered = await login({ port: each, user: 'root', key: newRenterKey(), command: 'true' });
      assert.notEqual(entered.code, 0);
    }
  });

  it('leaves keys that are too long together to another upstream', async () => {
    const publicKeys = Array.from({ length: 12 }, () => newRenterKey('rsa').line);
    await assert.rejects(lab.vast.allocate(vastRequestOf({ publicKeys })), (error) =>
      isOfKind(error, 'no_capacity'),
    );
  });

  it('sells nothing whose traffic is dear, and nothing that ends soon', async () => {
    await lab.faults({ dearTraffic: true });
    assert.deepEqual(await lab.vast.listOffers(), []);
    await lab.clearFaults();
    await lab.faults({ contractMs: 3_600_000 });
    assert.deepEqual(await lab.vast.listOffers(), []);
    await lab.faults({ contractMs: 2_592_000_000 });
  });

  it('lists more machines than a page holds, once each, and adds up what they cost', async () => {
    const requests = Array.from({ length: 27 }, () => vastRequestOf());
    for (const request of requests) await lab.vast.allocate(request);
    const tags = (await lab.vast.listPods()).map(({ tag }) => tag);
    assert.equal(new Set(tags).size, tags.length);
    for (const { tag } of requests) assert.ok(tags.includes(tag), tag);
    const balance = await lab.vast.readBalance?.();
    assert.deepEqual(balance, { balanceCents: 1_000_000, burnCentsPerHour: 40 * tags.length });
  });

  it('keeps the upstream’s paces: lists wait for their turn, a create out of turn is made elsewhere', async () => {
    await lab.faults({ paced: true });
    const budget = turnBudget();
    const options = { url: `${lab.url()}/vast`, apiKey: API_KEY, deployment: 'test', budget };
    const provider = createVastProvider({ code: 'paced', ...options });
    const begun = performance.now();
    await provider.find('test-rent-none-1');
    await provider.find('test-rent-none-2');
    assert.ok(performance.now() - begun >= 990, `${performance.now() - begun} ms`);
    await provider.allocate(vastRequestOf());
    await assert.rejects(provider.allocate(vastRequestOf()), (error: ProviderError) => {
      assert.equal(error.details.outOfTurn, true);
      return isOfKind(error, 'rate_limited');
    });
    // Somebody else used the account: the upstream says so, and nothing else of it is off sale.
    const other = createVastProvider({ code: 'other', ...options, budget: turnBudget() });
    await assert.rejects(other.allocate(vastRequestOf()), (error: ProviderError) => {
      assert.deepEqual([error.details.outOfTurn, error.details.retryAfterMs], [true, 12_000]);
      return isOfKind(error, 'rate_limited');
    });
  });
});
