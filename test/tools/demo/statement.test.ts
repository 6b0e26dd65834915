import assert from 'node:assert/strict';
import type { Entry } from '../../../tools/demo/ledger.js';
import type { Rental } from '../../../tools/demo/rental.js';
import type { Stage } from '../../../tools/demo/stage.js';
import { checkStatement } from '../../../tools/demo/statement.js';
import { StoryError } from '../../../tools/demo/story-error.js';

/** 7,213 ms at $39.92 an hour are 7.998 cents. */
const rental: Rental = {
  id: 'rent_1',
  status: 'stopped',
  gpuCount: 8,
  model: 'B200',
  region: 'Dulles',
  pricePerHourCents: 3992,
  host: '127.0.0.1',
  port: 22,
  username: 'shadeform',
  hostKeyFingerprint: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  runningAt: '2026-01-01T00:00:04.000Z',
  stoppedAt: '2026-01-01T00:00:11.213Z',
  maxSpendCents: null,
  totalChargedCents: 8,
  error: null,
};

/** Nobody listens on port 9. */
const nobody = 'http://127.0.0.1:9';

describe("the demo's final statement", () => {
  let shown: string[];
  beforeEach(() => (shown = []));

  it('holds when every cent adds up, read page by page', async () => {
    const statement = await checkStatement(stageOf(), rental);
    assert.equal(statement.entries.length, 4);
    assert.equal(shown.filter((line) => line.trimStart().startsWith('ok ')).length, 3);
  });

  const broken: [what: string, words: RegExp, stage: () => Stage, of?: Rental][] = [
    [
      'a balance that does not follow from its predecessor',
      /balances do not follow .* led_4/,
      () => stageOf(ledgerOf([10_000, -5, -2, -1], { 2: 9_994 })),
    ],
    [
      'a first entry that does not start from 0',
      /balances do not follow .* led_1/,
      () => stageOf(ledgerOf([10_000, -5, -2, -1], { 0: 10_001, 1: 9_996, 2: 9_994, 3: 9_993 })),
    ],
    ['a cent too much', /cost 8 cents, but 9 were/, () => stageOf(ledgerOf([10_000, -5, -2, -2]))],
    [
      'a rental that shows another charge than the ledger',
      /rental and the ledger differ/,
      () => stageOf(),
      { ...rental, totalChargedCents: 7 },
    ],
    ['money that is still held', /3992 cents are still held/, () => stageOf(ledgerOf(), 3992)],
    ['a wallet that differs from its ledger', /wallet shows 9990 cents/, () => stageOf(ledgerOf(), 0, 9990)],
  ];
  for (const [what, words, stage, of = rental] of broken) {
    it(`does not hold with ${what}`, async () => {
      await assert.rejects(checkStatement(stage(), of), (error: Error) => {
        assert.ok(error instanceof StoryError);
        assert.match(error.message, words);
        return true;
      });
    });
  }

  /** The ledger, newest first, as the API lists it. `balances` replaces right balances by others. */
  function ledgerOf(amounts = [10_000, -5, -2, -1], balances: Record<number, number> = {}): Entry[] {
    let balance = 0;
    return amounts
      .map((amountCents, index) => {
        balance += amountCents;
        return {
          id: `led_${index + 1}`,
          type: amountCents > 0 ? ('processor_topup' as const) : ('rental_charge' as const),
          amountCents,
          balanceAfterCents: balances[index] ?? balance,
          createdAt: rental.startedAt,
          ...(amountCents < 0 && { rentalId: rental.id }),
        };
      })
      .reverse();
  }

  /** An API that has this ledger, two entries a page, and this balance. */
  function stageOf(
    entries = ledgerOf(),
    reservedCents = 0,
    totalCents = entries[0]!.balanceAfterCents,
  ): Stage {
    const get = (path: string): Promise<unknown> => {
      if (path === '/v1/billing/balance') {
        return Promise.resolve({ totalCents, reservedCents, availableCents: totalCents - reservedCents });
      }
      const from = Number(/cursor=(\d+)/.exec(path)?.[1] ?? 0);
      return Promise.resolve({
        entries: entries.slice(from, from + 2),
        balanceCents: entries[0]!.balanceAfterCents,
        nextCursor: from + 2 < entries.length ? String(from + 2) : null,
      });
    };
    return {
      urls: { api: nobody, mail: nobody, processor: nobody },
      api: {
        get,
        post: () => Promise.reject(new Error('a statement changes nothing')),
        sid: () => undefined,
      },
      email: 'ann@example.com',
      log: (line) => shown.push(line),
      signal: new AbortController().signal,
      startedAtMs: 0,
    };
  }
});
