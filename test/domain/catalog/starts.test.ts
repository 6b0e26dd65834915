import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  inOrderOfCost,
  learnFrom,
  noStarts,
  startLimits,
  type CountedStarts,
} from '../../../domain/catalog/starts.js';

const offers = ['lab', 'other'].flatMap((provider_code) =>
  ['NO', 'US'].flatMap((region_code) =>
    ['a', 'b', 'c'].map((name) => ({
      ...{ id: `lst_${provider_code}_${region_code}_${name}`, provider_code, region_code },
      family: 'rtx-4090',
    })),
  ),
);
type Priced = (typeof offers)[number] & { price_per_hour_cents: number };

const pricedOffers = fc
  .array(fc.integer({ min: 1, max: 300 }), { minLength: offers.length, maxLength: offers.length })
  .map((prices) =>
    offers.map((offer, index): Priced => ({ ...offer, price_per_hour_cents: prices[index]! })),
  );
const started = fc.record({
  offer: fc.constantFrom(...offers),
  hoursAgo: fc.integer({ min: 0, max: startLimits.windowHours - 1 }),
  succeeded: fc.integer({ min: 0, max: 40 }),
  failed: fc.integer({ min: 0, max: 40 }),
});
const history = fc.array(started, { maxLength: 30 });

const placeOf = (listed: readonly Priced[], id: string): number => listed.findIndex((one) => one.id === id);
const failure = (offer: Priced, hoursAgo: number): CountedStarts => ({
  ...{ offer, hoursAgo, succeeded: 0, failed: 1 },
});

describe('the order of offers by what came of their machines', () => {
  it('is the order of prices, ties by id, while nothing is known', () => {
    fc.assert(
      fc.property(pricedOffers, (priced) => {
        const byPrice = priced.toSorted(
          (a, b) => a.price_per_hour_cents - b.price_per_hour_cents || (a.id < b.id ? -1 : 1),
        );
        assert.deepEqual(inOrderOfCost(priced, noStarts), byPrice);
      }),
    );
  });

  it('is total: it has each offer once, in the same places however they came', () => {
    fc.assert(
      fc.property(pricedOffers, history, fc.integer(), (priced, counts, salt) => {
        const known = learnFrom(counts);
        const shuffled = priced.toSorted((a, b) => hash(a.id, salt) - hash(b.id, salt));
        assert.deepEqual(inOrderOfCost(shuffled, known), inOrderOfCost(priced, known));
        assert.deepEqual(new Set(inOrderOfCost(priced, known)), new Set(priced));
      }),
    );
  });

  it('never lifts an offer for a failure of its own', () => {
    fc.assert(
      fc.property(
        pricedOffers,
        history,
        fc.nat(offers.length - 1),
        fc.nat(23),
        (priced, counts, of, hoursAgo) => {
          const offer = priced[of]!;
          const before = placeOf(inOrderOfCost(priced, learnFrom(counts)), offer.id);
          const after = placeOf(
            inOrderOfCost(priced, learnFrom([...counts, failure(offer, hoursAgo)])),
            offer.id,
          );
          assert.ok(after >= before, `from ${before} to ${after}`);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('heals with time: what only failed never sinks as its failures grow old, and is as new after the window', () => {
    fc.assert(
      fc.property(
        pricedOffers,
        fc.nat(offers.length - 1),
        fc.integer({ min: 1, max: 50 }),
        (priced, of, failed) => {
          const offer = priced[of]!;
          const chances = Array.from({ length: startLimits.windowHours }, (_, hoursAgo) =>
            learnFrom([{ offer, hoursAgo, succeeded: 0, failed }]).chanceOf(offer),
          );
          assert.deepEqual(
            chances,
            chances.toSorted((a, b) => a - b),
          );
          assert.ok(chances.every((chance) => chance > 0 && chance < noStarts.chanceOf(offer)));
        },
      ),
    );
  });

  it('puts a machine that has just failed behind one that is a fifth dearer, and back after a day', () => {
    const [bad, sibling, , elsewhere] = offers.map((offer) => ({ ...offer, price_per_hour_cents: 100 }));
    const dearer = { ...sibling!, price_per_hour_cents: 120 };
    const ids = (hoursAgo: number) =>
      inOrderOfCost([bad!, dearer], learnFrom([failure(bad!, hoursAgo)])).map(({ id }) => id);
    assert.deepEqual(ids(0), [dearer.id, bad!.id]);
    assert.deepEqual(ids(23), [bad!.id, dearer.id]);
    // What fails teaches something of its neighbours, and nothing of another region.
    const known = learnFrom([failure(bad!, 0)]);
    assert.ok(known.chanceOf(bad!) < known.chanceOf(sibling!));
    assert.ok(known.chanceOf(sibling!) < known.chanceOf(elsewhere!));
    assert.equal(known.chanceOf(elsewhere!), 0.95);
  });

  it('tells what was counted, whole', () => {
    const [offer, other] = offers;
    const known = learnFrom([
      { offer: offer!, hoursAgo: 20, succeeded: 2, failed: 1 },
      { offer: offer!, hoursAgo: 0, succeeded: 1, failed: 0 },
    ]);
    assert.deepEqual(known.recent.get(offer!.id), { succeeded: 3, asked: 4 });
    assert.equal(known.recent.get(other!.id), undefined);
  });
});

function hash(text: string, salt: number): number {
  return Array.from(text).reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0) + salt) % 1_000_003, 7);
}
