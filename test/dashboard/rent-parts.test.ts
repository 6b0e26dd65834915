import assert from 'node:assert/strict';
import { ApiError, ConnectionError, type ErrorCode, type Listing, type Quote } from '@gpu-rental/client';
import { isOutcomeUnknown, isRefused, quoteOfRefusal } from '../../clients/dashboard/src/data/outcome.js';
import { countryName, familyName } from '../../clients/dashboard/src/format/machine.js';
import { factsOf, sizesOf } from '../../clients/dashboard/src/pages/rent/facts.js';
import { choicesOf, familyRows, listingFilterOf } from '../../clients/dashboard/src/pages/rent/families.js';
import { hoursOf } from '../../clients/dashboard/src/pages/rent/hours.js';
import { countOffers, offersByCountry, requestOf } from '../../clients/dashboard/src/pages/rent/offers.js';
import { holdQuote, secondsLeft } from '../../clients/dashboard/src/pages/rent/quote-state.js';
import {
  readFamilySearch,
  readRentSearch,
  type FamilySearch,
} from '../../clients/dashboard/src/pages/rent/search.js';
import { drawSpark } from '../../clients/dashboard/src/pages/rent/sparkline-points.js';
import { labelsOf, pairFault, pairsOf, sameLabels } from '../../clients/dashboard/src/ui/label-pairs.js';
import { families } from '../../domain/catalog/families.js';
import { machineWords } from '../../domain/catalog/machine-words.js';

function listing(fields: Partial<Listing>): Listing {
  return {
    ...{ id: 'lst_1', model: 'L4', family: 'l4', vramGb: 24, gpuCount: 1, pricePerHourCents: 50 },
    ...{
      providerCode: 'lab',
      region: 'Somewhere',
      regionCode: 'US',
      interconnect: 'pcie',
      ...{ vcpus: null, memoryGb: null, diskGb: null, networkMbps: null },
      ...{ cudaVersion: null, driverVersion: null, availableUntil: null },
      reliability: null,
      recentStarts: null,
    },
    ...fields,
  };
}

describe('the names of machines', () => {
  it('are read out of ids', () => {
    assert.deepEqual(['h100-80gb', 'rtx-4000-ada', 'rtx-pro-6000', 'l40s'].map(familyName), [
      'H100 80 GB',
      'RTX 4000 Ada',
      'RTX PRO 6000',
      'L40S',
    ]);
    assert.deepEqual(['FR', 'eu', 'somewhere'].map(countryName), ['France', 'eu', 'somewhere']);
  });

  it('are the service’s in its sentences and mails, for every family', () => {
    for (const { id, models } of families) {
      for (const model of models) assert.equal(machineWords(1, model), `1 × ${familyName(id)}`);
    }
  });
});

describe('the filters of what can be rented', () => {
  it('are read out of the address, and what is none is left out', () => {
    const sizes = { vram: 80, cpus: 32, ram: 256, disk: 500 };
    const all = { q: 'h100', gpus: 8, ...sizes, max: 5000, region: 'eu', sort: 'name' };
    assert.deepEqual(readRentSearch(all), all);
    assert.deepEqual(
      readRentSearch({ q: 4090, gpus: 3, vram: -1, ram: 'a lot', max: 1.5, region: '', sort: 'price' }),
      {
        q: '4090',
      },
    );
  });

  it('go to the service as far as it knows them', () => {
    assert.deepEqual(listingFilterOf({ q: 'x', gpus: 2, vram: 24, max: 90, region: 'FR', sort: 'name' }), {
      ...{ gpuCount: 2, minVramGb: 24, region: 'FR', maxPricePerHourCents: 90 },
    });
    assert.deepEqual(listingFilterOf({ cpus: 32, ram: 256, disk: 500 }), {
      ...{ minVcpus: 32, minMemoryGb: 256, minDiskGb: 500 },
    });
  });

  it('of its size lead to the cheapest machine that fits: the form has none of them', () => {
    const fitting = listing({ gpuCount: 4, regionCode: 'FR' });
    assert.deepEqual(choicesOf({ gpus: 2, region: 'eu', max: 90 }, fitting), {
      ...{ gpus: 2, region: 'eu', max: 90 },
    });
    for (const size of [{ cpus: 8 }, { ram: 64 }, { disk: 100 }]) {
      assert.deepEqual(choicesOf({ region: 'eu', max: 90, ...size }, fitting), {
        ...{ gpus: 4, region: 'FR', max: 90 },
      });
    }
  });

  const families = [
    { family: 'l4', models: ['L4'], fromPricePerHourCents: 50, liveCount: 3 },
    { family: 'b200', models: ['B200'], fromPricePerHourCents: 490, liveCount: 9 },
    { family: 'a40', models: ['A40'], fromPricePerHourCents: null, liveCount: 0 },
    { family: 'a100-40gb', models: ['A100'], fromPricePerHourCents: null, liveCount: 0 },
  ] as const;
  const listings = [
    listing({}),
    listing({ id: 'lst_2', regionCode: 'FR', pricePerHourCents: 60, gpuCount: 2 }),
    listing({ id: 'lst_3', family: 'b200', vramGb: 180, pricePerHourCents: 490 }),
  ];
  const rows = (search: Parameters<typeof familyRows>[2], found = listings) =>
    familyRows(
      families.map((family) => ({ ...family, models: [...family.models] })),
      found,
      search,
    );

  it('leave all families, with the service’s own figures, where there are none', () => {
    assert.deepEqual(
      rows({}).map(({ id, lowestCents, available }) => [id, lowestCents, available]),
      [
        ['l4', 50, 3],
        ['b200', 490, 9],
        ['a40', null, 0],
        ['a100-40gb', null, 0],
      ],
    );
    assert.deepEqual(rows({})[0]?.regionCodes, ['US', 'FR']);
    assert.deepEqual(rows({})[0]?.gpuCounts, [1, 2]);
  });

  it('leave those of which something fits, and count that', () => {
    const [, second] = listings;
    const found = rows({ gpus: 2 }, second ? [second] : []);
    assert.deepEqual(
      found.map(({ id, lowestCents, available }) => [id, lowestCents, available]),
      [['l4', 60, 1]],
    );
  });

  it('order them', () => {
    const order = (sort: 'memory' | 'offers' | 'name') => rows({ sort }).map(({ id }) => id);
    assert.deepEqual(order('memory').slice(0, 2), ['b200', 'l4']);
    assert.deepEqual(order('offers').slice(0, 2), ['b200', 'l4']);
    assert.deepEqual(order('name'), ['a40', 'a100-40gb', 'b200', 'l4']);
  });

  it('find a family by words of its name', () => {
    assert.deepEqual(
      rows({ q: '40 GB' }).map(({ id }) => id),
      ['a100-40gb'],
    );
  });
});

describe('what is told of a machine', () => {
  it('is what its provider tells', () => {
    const all = { vcpus: 8, memoryGb: 64.5, diskGb: 2000, networkMbps: 940, cudaVersion: '12.8' };
    assert.deepEqual(factsOf(all), ['8 CPUs', '64.5 GB RAM', '2,000 GB disk', '940 Mbps', 'CUDA 12.8']);
    assert.deepEqual(sizesOf({ ...all, vcpus: 1, memoryGb: null }), ['1 CPU', '2,000 GB disk']);
    assert.deepEqual(factsOf(listing({})), []);
  });
});

describe('the choices of a rental', () => {
  const choices: FamilySearch = {
    ...{ gpus: 8 as const, region: 'US', max: 9000, template: 'vllm', name: 'run', hours: 1.5, spend: 2000 },
    ...{ labels: { team: 'a' }, keys: ['key_1'] },
  };

  it('are read out of the address, and what is none is left out', () => {
    assert.deepEqual(readFamilySearch({ ...choices }), choices);
    const wrong = { gpus: 'many', hours: -2, spend: 0.5, labels: ['a'], keys: 'key_1', name: 7 };
    assert.deepEqual(readFamilySearch(wrong), { name: '7' });
    assert.deepEqual(readFamilySearch({ labels: { a: 'b', c: 1 }, keys: ['key_1', 2] }), {
      labels: { a: 'b' },
      keys: ['key_1'],
    });
  });

  it('become what the service is asked for', () => {
    assert.deepEqual(requestOf('h100-80gb', 8, choices, ['key_1']), {
      ...{ familyId: 'h100-80gb', gpuCount: 8, region: 'US', maxPricePerHourCents: 9000 },
      ...{ templateId: 'vllm', name: 'run', autoStopAfterHours: 1.5, maxSpendCents: 2000 },
      ...{ labels: { team: 'a' }, sshKeyIds: ['key_1'] },
    });
    assert.deepEqual(requestOf('l4', 1, {}, undefined), { familyId: 'l4', gpuCount: 1 });
    const guarded = readFamilySearch({ idle: 45, ignoreSessions: true });
    const { stopWhenIdleMinutes, idleIgnores } = requestOf('l4', 1, guarded, undefined);
    assert.deepEqual([stopWhenIdleMinutes, idleIgnores], [45, ['sessions']]);
    assert.deepEqual(readFamilySearch({ ignoreSessions: true }), {});
    assert.equal(requestOf('l4', 1, readFamilySearch({ telemetry: true }), undefined).telemetry, true);
    assert.deepEqual(readFamilySearch({ telemetry: 'yes' }), {});
  });

  it('take hours as people type them', () => {
    assert.deepEqual(['2', ' 0.5 ', '720', '0', '721', 'two', '1e2', ''].map(hoursOf), [
      ...[2, 0.5, 720],
      ...[undefined, undefined, undefined, undefined, undefined],
    ]);
  });

  it('are offered with the lowest price of each', () => {
    const offers = [
      listing({ pricePerHourCents: 50 }),
      listing({ pricePerHourCents: 55, regionCode: 'FR' }),
      listing({ pricePerHourCents: 70 }),
      listing({ pricePerHourCents: 90, gpuCount: 4 }),
    ];
    assert.deepEqual(countOffers(offers), [
      { count: 1, lowestCents: 50 },
      { count: 4, lowestCents: 90 },
    ]);
    assert.deepEqual(
      offersByCountry(offers, 1).map(({ cheapest, count, highestCents }) => [
        ...[cheapest.regionCode, cheapest.pricePerHourCents, count, highestCents],
      ]),
      [
        ['US', 50, 2, 70],
        ['FR', 55, 1, 55],
      ],
    );
  });
});

describe('a price line', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour)).toISOString();
  const hour = (no: number, cents: number | null) => ({
    ...{ at: at(no), lowestPricePerHourCents: cents, available: cents === null ? 0 : 1 },
  });
  const box = { hours: 4, width: 30, height: 10 };

  it('is drawn from the left to the right, and leaves gaps where there was no price', () => {
    const spark = drawSpark([hour(0, 500), hour(1, 40), hour(2, 60), hour(3, null), hour(4, 50)], box);
    assert(spark);
    const { prices, ...drawn } = spark;
    assert.deepEqual(
      prices.map(({ cents, x }) => [cents, x]),
      [
        [40, 0],
        [60, 10],
        [50, 30],
      ],
    );
    // The first hour lies before the box; the last one stands alone.
    assert.deepEqual(drawn, {
      ...{ path: 'M0 10L10 0M30 5h0', lowestCents: 40, highestCents: 60, latestCents: 50 },
    });
  });

  it('is level where the price stayed, and none where there was no price', () => {
    assert.equal(drawSpark([hour(0, 40), hour(1, 40)], box)?.path, 'M20 5L30 5');
    assert.equal(drawSpark([hour(0, null)], box), undefined);
    assert.equal(drawSpark([], box), undefined);
  });
});

describe('a quote that is held', () => {
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const quote = (pricePerHourCents: number, leftMs = 58_000) =>
    ({ pricePerHourCents, expiresAt: new Date(nowMs + leftMs).toISOString() }) as Quote;

  it('counts its minute down, also where the clock of the browser is wrong', () => {
    const held = holdQuote(quote(100), undefined, nowMs);
    assert.equal(secondsLeft(held, nowMs), 58);
    assert.equal(secondsLeft(held, nowMs + 57_001), 1);
    assert.equal(secondsLeft(held, nowMs + 70_000), 0);
    assert.equal(secondsLeft({ ...held, expiresAtMs: nowMs + 60_000 }, nowMs - 900), 60);
    for (const leftMs of [-300_000, 300_000]) {
      assert.equal(secondsLeft(holdQuote(quote(100, leftMs), undefined, nowMs), nowMs), 60);
    }
  });

  it('tells a price that is not the one before, for as long as it stays so', () => {
    const first = holdQuote(quote(100), undefined, nowMs);
    const second = holdQuote(quote(120), first, nowMs);
    assert.equal(first.changedFromCents, undefined);
    assert.equal(second.changedFromCents, 100);
    assert.equal(holdQuote(quote(120), second, nowMs).changedFromCents, 100);
    assert.equal(holdQuote(quote(130), second, nowMs).changedFromCents, 120);
  });
});

describe('a create that failed', () => {
  const refusal = (code: ErrorCode, status: number, details?: unknown) =>
    new ApiError({
      ...{ status, code, message: '', requestId: 'r', retryAfterSeconds: undefined },
      details: details as never,
    });

  it('may have been done where nobody could tell', () => {
    assert(isOutcomeUnknown(new ConnectionError('gone')));
    assert(isOutcomeUnknown(refusal('internal_error', 500)));
    assert(isOutcomeUnknown(refusal('temporarily_unavailable', 503, { outcome: 'unknown' })));
    assert(isOutcomeUnknown(refusal('idempotency_in_progress', 409, { rentalId: 'rent_1' })));
    assert(!isOutcomeUnknown(refusal('temporarily_unavailable', 503, { outcome: 'not_done' })));
    assert(!isOutcomeUnknown(new ConnectionError('refused', { neverSent: true })));
    assert(!isOutcomeUnknown(refusal('rate_limited', 429)));
    assert(isOutcomeUnknown(new Error('a bug in what reads the answer')));
  });

  it('is neither refused nor known while its twin is under way', () => {
    const twin = refusal('idempotency_in_progress', 409);
    assert.deepEqual([isOutcomeUnknown(twin), isRefused(twin)], [true, false]);
  });

  it('was refused for good only by an answer that its key would give again', () => {
    assert(isRefused(refusal('insufficient_balance', 402)));
    assert(!isRefused(refusal('rate_limited', 429)));
    assert(!isRefused(refusal('internal_error', 500)));
    assert(!isRefused(refusal('idempotency_in_progress', 409, { rentalId: 'rent_1' })));
    assert(!isRefused(new ConnectionError('gone')));
  });

  it('brings a new quote where its own did not hold', () => {
    const quote = { quoteId: 'quo_2' };
    assert.equal(quoteOfRefusal(refusal('price_changed', 409, { quote })), quote);
    assert.equal(quoteOfRefusal(refusal('quote_expired', 409, { quote: null })), undefined);
    assert.equal(quoteOfRefusal(refusal('quote_expired', 409)), undefined);
    assert.equal(quoteOfRefusal(refusal('model_unavailable', 400, { quote })), undefined);
  });
});

describe('labels as they are typed', () => {
  const pair = (no: number, key: string, value = 'x') => ({ no, key, value });

  it('are told once all of them are right; empty ones are left out', () => {
    assert.deepEqual(labelsOf([pair(0, 'team', 'a'), pair(1, '', '')]), { team: 'a' });
    assert.equal(labelsOf([pair(0, 'Team')]), undefined);
    assert.equal(labelsOf([pair(0, ''), pair(1, 'team')]), undefined);
    assert.equal(labelsOf([pair(0, 'team'), pair(1, 'team')]), undefined);
    assert.deepEqual(labelsOf(pairsOf({ a: '1', b: '' })), { a: '1', b: '' });
  });

  it('blame the second of two keys', () => {
    const pairs = [pair(0, 'team'), pair(1, 'team')];
    assert.deepEqual(
      pairs.map((one) => pairFault(one, pairs)),
      [undefined, 'twice'],
    );
  });

  it('are the same in any order', () => {
    assert(sameLabels({ a: '1', b: '2' }, { b: '2', a: '1' }));
    assert(!sameLabels({ a: '1' }, { a: '2' }));
    assert(!sameLabels({ a: '1' }, { a: '1', b: '' }));
  });
});
