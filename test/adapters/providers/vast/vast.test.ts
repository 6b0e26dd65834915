import assert from 'node:assert/strict';
import { createVastProvider } from '../../../../adapters/providers/vast/vast.js';
import { bootstrapLines } from '../../../../adapters/providers/bootstrap.js';
import { vastSoftware } from '../../../../adapters/providers/vast/vast-software.js';
import { onstartOf } from '../../../../adapters/providers/vast/vast-wire.js';
import { misfitsOfWish } from '../../../../domain/rentals/misfits.js';
import { keysCharsOf, noSoftware, outlineOf } from '../../../../domain/rentals/software.js';
import type { Provider, ProviderError } from '../../../../adapters/providers/provider.js';
import type { RequestBudget } from '../../../../adapters/providers/upstream/request-budget.js';
import {
  API_KEY,
  login,
  newRenterKey,
  startLivingLab,
  untilActive,
  vastRequestOf,
  type LivingLab,
} from '../../../lab/provider/living-lab.js';
import {
  isOfKind,
  json,
  startScriptedUpstream,
  type Handler,
  type ScriptedUpstream,
} from '../upstream/scripted-upstream.js';
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
    await assert.rejects(lab.vast.allocate(vastRequestOf({ publicKeys })), (error: ProviderError) => {
      assert.equal(error.details.unfitOrder, true);
      return isOfKind(error, 'no_capacity');
    });
  });

  it('takes as many SSH keys as it says, with a notebook, and beside the longest script', () => {
    const { alone = 0, besideScript = 0 } = vastSoftware.keysMaxChars ?? {};
    const notebookToken = 'a'.repeat(64);
    const bootstrap = bootstrapLines(`https://${'machines.'.repeat(10)}example.com`, notebookToken);
    const startScript = 'x'.repeat(vastSoftware.scriptMaxBytes ?? 0);
    const software = { ...noSoftware, startScript };
    const line = `ssh-ed25519 ${'A'.repeat(68)}`;
    const largest = [
      { most: alone, asked: {} },
      { most: besideScript, asked: { software } },
      { most: besideScript, asked: { software, bootstrap } },
    ];
    for (const { most, asked } of largest) {
      const publicKeys = Array<string>(Math.floor(most / keysCharsOf([line]))).fill(line);
      assert.doesNotThrow(() => onstartOf({ publicKeys, notebookToken, ...asked }));
    }
  });

  it('takes each wish that fits what it says, however many variables it has', () => {
    const notebookToken = 'a'.repeat(64);
    const line = `ssh-ed25519 ${'A'.repeat(68)}`;
    const taken = { fits: 0, not: 0 };
    for (const variables of [1, 30, 64]) {
      for (const keys of [0, 1, 5, 10, 20]) {
        for (const scriptBytes of [1, 500, 1_000]) {
          const env = Object.fromEntries(Array.from({ length: variables }, (_, at) => [`V${at}`, 'ü€']));
          const software = { ...noSoftware, env, startScript: 'x'.repeat(scriptBytes), args: ['a b'] };
          const publicKeys = Array<string>(keys).fill(line);
          const wish = {
            templateId: 'pytorch',
            software: outlineOf(software, null),
            keysChars: keysCharsOf(publicKeys),
          };
          const fits = misfitsOfWish(wish, { software: vastSoftware }).length === 0;
          taken[fits ? 'fits' : 'not'] += 1;
          if (fits) assert.doesNotThrow(() => onstartOf({ publicKeys, notebookToken, software }));
          // It leaves no more than 200 characters unused.
          else assert.throws(() => onstartOf({ publicKeys, notebookToken: 'a'.repeat(264), software }));
        }
      }
    }
    assert.ok(taken.fits > 10 && taken.not > 10, JSON.stringify(taken));
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

describe('the lists of Vast, of any length (decision 190)', () => {
  const PAGES = 20;
  const PATH = 'GET /api/v1/instances/';
  let upstream: ScriptedUpstream;
  beforeEach(async () => {
    upstream = await startScriptedUpstream('vast');
    upstream.handlers[PATH] = answerPage;
  });
  afterEach(() => upstream.stop());

  const instance = (id: number, label = `test-rent-${id}`): object => ({
    ...{ id, label, actual_status: 'running', dph_total: 0.4, public_ipaddr: '203.0.113.1', ports: null },
  });

  /** Two machines a page; a search by a label finds one. */
  const answerPage: Handler = (response, path, query) => {
    const { label } = JSON.parse(query.get('select_filters') ?? '{}') as { label?: { eq: string } };
    const page = Number(query.get('after_token') ?? '0');
    const instances = label ? [instance(1, label.eq)] : [instance(2 * page), instance(2 * page + 1)];
    const next_token = label || page === PAGES - 1 ? null : String(page + 1);
    json(200, { instances, next_token })(response, path, query);
  };

  const SPEED = 100;
  /** Its paces are faster, so that a call has time for some hundred turns. */
  const paced = (budget = turnBudget(SPEED)): Provider =>
    createVastProvider({
      ...{ code: 'vast', url: upstream.url, apiKey: 'k', deployment: 'test' },
      ...{ timeoutMs: 2_000, budget },
    });

  it('are told of after each page, and each takes its turn', async () => {
    let told = 0;
    const pods = await paced().listPods(() => void (told += 1));
    assert.equal(pods.length, 2 * PAGES);
    assert.equal(told, PAGES);
  });

  it('go on beside any number of searches, which do not wait for their end', async () => {
    const provider = paced();
    let isListing = true;
    const found: boolean[] = [];
    const search = async (tag: string): Promise<void> => {
      while (isListing) {
        found.push((await provider.find(tag))?.tag === tag);
      }
    };
    const searches = Array.from({ length: 40 }, (_, index) => search(`test-search-${index}`));
    try {
      assert.equal((await provider.listPods()).length, 2 * PAGES);
    } finally {
      isListing = false;
      await Promise.all(searches);
    }
    assert.ok(found.every(Boolean));
    assert.ok(found.length >= PAGES, `${found.length} searches were answered beside ${PAGES} pages`);
  });

  it('ask again for a page that got no answer, and are none without it', async () => {
    let failures = 2;
    upstream.handlers[PATH] = (...asked) => {
      const isFailing = asked[2].get('after_token') === '7' && failures > 0;
      if (isFailing) failures -= 1;
      (isFailing ? json(503, {}) : answerPage)(...asked);
    };
    assert.equal((await paced().listPods()).length, 2 * PAGES);
    assert.equal(upstream.asked.length, PAGES + 2);
    failures = 3;
    await assert.rejects(paced().listPods(), (error) => isOfKind(error, 'unknown'));
  });

  describe('that our own request budget puts off', () => {
    /** Refuses the request for a page so many times. */
    const short = (page: number, times: number): RequestBudget => {
      const budget = turnBudget(SPEED);
      let [turns, left] = [0, times];
      return {
        ...budget,
        takeTurn(...pace) {
          turns += 1;
          return budget.takeTurn(...pace);
        },
        take: () => Promise.resolve(turns >= page && left-- > 0 ? 20 : 0),
      };
    };
    const isPutOff = (error: ProviderError): boolean => {
      assert.equal(error.details.outOfTurn, true);
      return isOfKind(error, 'rate_limited');
    };

    it('wait for the rest of their pages, and tell that they do', async () => {
      let told = 0;
      const pods = await paced(short(7, 2)).listPods(() => void (told += 1));
      assert.equal(pods.length, 2 * PAGES);
      assert.equal(upstream.asked.length, PAGES);
      assert.ok(told > PAGES, `${told} times`);
    });

    it('come later when they have not begun, or wait for long: that is no failure of the upstream', async () => {
      await assert.rejects(paced(short(1, 1)).listPods(), isPutOff);
      assert.deepEqual(upstream.asked, []);
      await assert.rejects(paced(short(7, 3)).listPods(), isPutOff);
    });

    it('are none for a caller who can’t wait so long', async () => {
      upstream.handlers[PATH] = json(200, { instances: [], next_token: 'more' });
      const wait = { untilMs: performance.now() + 1_000 };
      const budget = { ...short(2, 1), take: () => Promise.resolve(upstream.asked.length > 0 ? 20_000 : 0) };
      await assert.rejects(paced(budget).find('test-1', wait), isPutOff);
    });
  });

  it('are none where the word on the next page can’t be read', async () => {
    upstream.handlers[PATH] = json(200, { instances: [instance(1)], next_token: 2 });
    await assert.rejects(paced().listPods(), (error) => isOfKind(error, 'unknown'));
  });

  it('end where nobody wants to hear more', async () => {
    const enough = new Error('enough');
    const stop = (): never => {
      throw enough;
    };
    await assert.rejects(paced().listPods(stop), enough);
    assert.equal(upstream.asked.length, 1);
  });
});
