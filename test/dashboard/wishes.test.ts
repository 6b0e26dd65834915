import assert from 'node:assert/strict';
import {
  DoneBefore,
  mayYetCome,
  refuseTwice,
  Wishes,
  WISH_KEPT_MS,
  type TabStorage,
  type Wish,
} from '../../clients/dashboard/src/data/wishes.js';

const wish: Wish<'topup'> = { userId: 'usr_1', key: 'k1', body: { amountCents: 2_500 }, atMs: 0 };

/** A browser: its tabs, each with a storage, and the pages that are open in them. */
class TestBrowser {
  nowMs = 1_000;
  readonly #open = new Set<Wishes>();

  storage(copyOf: ReadonlyMap<string, string> = new Map()): Map<string, string> {
    return new Map(copyOf);
  }

  open(storage: Map<string, string> | 'refused'): Wishes {
    const page: Wishes = new Wishes({
      storage: () => storageOf(storage),
      now: () => this.nowMs,
      isAnothers: (key) => Promise.resolve([...this.#open].some((other) => other !== page && other.has(key))),
    });
    this.#open.add(page);
    return page;
  }

  close(page: Wishes): void {
    this.#open.delete(page);
  }
}

function storageOf(storage: Map<string, string> | 'refused'): TabStorage {
  if (storage === 'refused') throw new DOMException('refused', 'SecurityError');
  return {
    getItem: (name) => storage.get(name) ?? null,
    setItem: (name, value) => storage.set(name, value),
    removeItem: (name) => storage.delete(name),
  };
}

describe('a wish whose outcome is open', () => {
  let browser: TestBrowser;
  let storage: Map<string, string>;
  let page: Wishes;
  beforeEach(() => {
    browser = new TestBrowser();
    storage = browser.storage();
    page = browser.open(storage);
    page.keep('topup', wish);
  });

  it('outlives the component that sent it', async () => {
    assert.deepEqual([page.peek('topup', 'usr_1'), await page.own('topup', 'usr_1')], [wish, wish]);
  });

  it('is there again after a load, and on the way back and forward', async () => {
    for (let load = 1; load <= 3; load += 1) {
      browser.close(page);
      page = browser.open(storage);
      assert.deepEqual(await page.own('topup', 'usr_1'), wish);
    }
  });

  it('is there again in a session that the browser restores', async () => {
    browser.close(page);
    assert.deepEqual(await browser.open(browser.storage(storage)).own('topup', 'usr_1'), wish);
  });

  it('is dropped by a tab that was duplicated, for good', async () => {
    const copied = browser.storage(storage);
    const duplicate = browser.open(copied);
    assert.equal(await duplicate.own('topup', 'usr_1'), undefined);
    browser.close(page);
    browser.close(duplicate);
    assert.equal(await browser.open(copied).own('topup', 'usr_1'), undefined);
    assert.deepEqual(await browser.open(storage).own('topup', 'usr_1'), wish);
  });

  it('is no matter of another tab, which sends wishes of its own', async () => {
    const other = browser.open(browser.storage());
    assert.equal(await other.own('topup', 'usr_1'), undefined);
    other.keep('topup', { ...wish, key: 'k2' });
    other.forget('topup');
    assert.deepEqual(await page.own('topup', 'usr_1'), wish);
  });

  it('is none of another form, and of another user, who clears it', async () => {
    assert.equal(page.peek('rent', 'usr_1'), undefined);
    assert.equal(await page.own('topup', 'usr_2'), undefined);
    assert.equal(await page.own('topup', 'usr_1'), undefined);
    assert.deepEqual([...storage], []);
  });

  it('is gone once its outcome was seen, and after signing out', async () => {
    page.forget('topup');
    assert.equal(await browser.open(storage).own('topup', 'usr_1'), undefined);
    page.keep('topup', wish);
    page.keep('rent', { ...wish, key: 'k3', body: { quoteId: 'quo_1', machine: '1 × B200' } });
    page.clear();
    assert.deepEqual([[...storage], page.has('k1'), page.has('k3')], [[], false, false]);
  });

  it('is gone after 15 minutes', async () => {
    browser.nowMs = WISH_KEPT_MS - 1;
    assert.deepEqual(await page.own('topup', 'usr_1'), wish);
    browser.nowMs = WISH_KEPT_MS;
    assert.equal(await page.own('topup', 'usr_1'), undefined);
    assert.deepEqual([...storage], []);
  });

  it('is the last one of its form', async () => {
    const next = { ...wish, key: 'k2', body: { amountCents: 5_000 } };
    page.keep('topup', next);
    assert.deepEqual(await browser.open(browser.storage(storage)).own('topup', 'usr_1'), undefined);
    assert.deepEqual(await page.own('topup', 'usr_1'), next);
  });

  it('lasts as long as the page where nothing may be stored', async () => {
    const shut = browser.open('refused');
    shut.keep('topup', wish);
    assert.deepEqual(await shut.own('topup', 'usr_1'), wish);
    shut.clear();
    assert.equal(await shut.own('topup', 'usr_1'), undefined);
  });

  it('is not what somebody else has put there', async () => {
    for (const text of ['', '{', 'null', '7', '{"key":1}', '{"key":"k","atMs":0}']) {
      const stranger = browser.open(new Map([['wish:topup', text]]));
      assert.equal(await stranger.own('topup', 'usr_1'), undefined, text);
    }
  });

  it('may yet come to the service for a minute', () => {
    assert.deepEqual([mayYetCome(wish, 59_999), mayYetCome(wish, 60_000)], [true, false]);
  });
});

describe('the same once more', () => {
  const at = (ms: number): string => new Date(ms).toISOString();

  it('is asked about for 15 minutes, by the latest', () => {
    assert.throws(() => refuseTwice([at(5_000), at(20_000)], 40_000), { atMs: 20_000 });
    assert.throws(() => refuseTwice([at(0)], WISH_KEPT_MS - 1), DoneBefore);
    refuseTwice([at(0)], WISH_KEPT_MS);
    refuseTwice([], 0);
  });

  it('is asked about where this browser’s clock is behind', () => {
    assert.throws(() => refuseTwice([at(90_000)], 40_000), { atMs: 40_000 });
  });
});
