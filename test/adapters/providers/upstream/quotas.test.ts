import assert from 'node:assert/strict';
import {
  readIntervalMs,
  readQuotas,
  type QuotaWindow,
} from '../../../../adapters/providers/upstream/quotas.js';
import type { RequestBudget } from '../../../../adapters/providers/upstream/request-budget.js';
import { createRunpodProvider } from '../../../../adapters/providers/runpod/runpod.js';
import type { Oddity } from '../../../../adapters/providers/provider.js';
import { json, startScriptedUpstream } from './scripted-upstream.js';

const POLICY = '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400';
const STATE = '"minute";r=0;t=12, "hour";r=2800;t=1812, "day";r=49500;t=45012';

const minute = { name: 'minute', quota: 60, windowMs: 60_000, remaining: 0, resetMs: 12_000 };
const day = { name: 'day', quota: 50_000, windowMs: 86_400_000, remaining: 49_500, resetMs: 45_012_000 };

describe('the quotas that an upstream’s answers tell', () => {
  function read(
    policy: string | null,
    state: string | null,
  ): { windows: QuotaWindow[]; malformed: string[] } {
    const headers = new Headers();
    if (policy !== null) headers.set('ratelimit-policy', policy);
    if (state !== null) headers.set('ratelimit', state);
    const malformed: string[] = [];
    return { windows: readQuotas(headers, (header) => malformed.push(header)), malformed };
  }

  it('are the windows of both headers, by name', () => {
    const { windows, malformed } = read(POLICY, STATE);
    assert.deepEqual(windows[0], minute);
    assert.deepEqual(windows[2], day);
    assert.deepEqual([windows.length, malformed], [3, []]);
  });

  it('are none in an answer without headers', () => {
    assert.deepEqual(read(null, null), { windows: [], malformed: [] });
    assert.deepEqual(read('', ' '), { windows: [], malformed: [] });
  });

  it('are read from either header alone, and from several header lines', () => {
    const [only] = read('"day";q=50000;w=86400', null).windows;
    assert.deepEqual(only, { ...day, remaining: null, resetMs: null });
    const headers = new Headers();
    for (const line of STATE.split(', ')) headers.append('RateLimit', line);
    const windows = readQuotas(headers, (header) => assert.equal(header, 'well-formed'));
    assert.deepEqual(
      windows.map(({ name, quota, remaining }) => [name, quota, remaining]),
      [
        ['minute', null, 0],
        ['hour', null, 2_800],
        ['day', null, 49_500],
      ],
    );
  });

  it('are read in any order of parameters, with unknown ones and with names that are tokens', () => {
    const { windows, malformed } = read(
      'day;w=86400;pk=":a;b,c:";q=50000;x="a, b;q=1"',
      '"day" ; t=45012; r=49500',
    );
    assert.deepEqual(windows, [day]);
    assert.deepEqual(malformed, []);
  });

  it('leave out a quota of anything but requests', () => {
    const { windows } = read(
      '"bytes";q=9;w=60;qu="content-bytes", "day";q=50000;w=86400;qu="requests"',
      null,
    );
    assert.deepEqual(
      windows.map(({ name }) => name),
      ['day'],
    );
  });

  const garbage = [
    'limit=100, remaining=50, reset=5',
    '100;w=60',
    '"minute";q=-1;w=60',
    '"minute";q=1.5;w=60',
    '"minute";q=60',
    '"minute";q=60;w=99999999999999999999',
    '"minute";q=60;w=9999999999',
    '"minute";q=9999999999;w=60',
    '"minute;q=60;w=60',
    ',,;;==',
    '\u00ff\u00fe',
    '"'.repeat(1_999),
    'a;'.repeat(900),
    `"minute";q=60;w=60${' '.repeat(3_000)};`,
  ];
  for (const text of garbage) {
    it(`are none in garbage, which is told: ${text.slice(0, 40)}`, () => {
      const { windows, malformed } = read(text, null);
      assert.deepEqual(windows, []);
      assert.ok(malformed.length > 0 && malformed.every((header) => header === 'RateLimit-Policy'));
    });
  }

  it('count where other members of the list are garbage', () => {
    const { windows, malformed } = read('100;w=60, "day";q=50000;w=86400, "hour";q=x;w=3600', null);
    assert.deepEqual(
      windows.map(({ name }) => name),
      ['day'],
    );
    assert.equal(malformed.length, 2);
  });

  it('space our lists and catalogs, which are 54,720 a day, to less than 37,500 of 50,000', () => {
    const full = { ...day, remaining: 50_000, resetMs: 86_400_000 };
    assert.equal(readIntervalMs([full], 0), 86_400_000 / 37_500);
    assert.ok(86_400_000 / readIntervalMs([full], 0) < 54_720);
  });

  it('hold by the tightest window, and by the policy once what was told is over', () => {
    const hour = { name: 'hour', quota: 3_000, windowMs: 3_600_000, remaining: 2_800, resetMs: 1_812_000 };
    assert.equal(readIntervalMs([hour], 12_000), 1_800_000 / 2_050);
    assert.equal(readIntervalMs([minute, hour], 2_000), 10_000);
    assert.equal(readIntervalMs([minute], 12_000), 60_000 / 45);
    assert.equal(readIntervalMs([{ ...minute, quota: null, windowMs: null }], 12_000), 0);
    assert.equal(readIntervalMs([], 0), 0);
  });
});

describe('the RunPod adapter and its quotas', () => {
  it('learns from each read, tells garbage once, and loses no answer when it can’t keep them', async () => {
    const upstream = await startScriptedUpstream('runpod');
    try {
      await upstream.provider.listPods().catch(() => undefined);
      const learned: (readonly QuotaWindow[])[] = [];
      const oddities: Oddity[] = [];
      const budget: RequestBudget = {
        take: () => Promise.resolve(0),
        takeTurn: () => Promise.resolve({ isTaken: true, waitMs: 0 }),
        pace: (reads) => Promise.resolve(reads * 100),
        learn(windows) {
          learned.push(windows);
          return Promise.reject(new Error('the database is away'));
        },
      };
      const provider = createRunpodProvider({
        ...{ code: 'runpod', url: upstream.url, apiKey: 'k', deployment: 'test', budget },
        onOddity: (oddity) => oddities.push(oddity),
      });
      const answer = (headers: Record<string, string>): void => {
        upstream.handlers['GET /v2/pods'] = json(200, { pods: [] }, headers);
      };
      answer({ 'RateLimit-Policy': '"day";q=50000;w=86400', RateLimit: '"day";r=49500;t=45012' });
      assert.deepEqual(await provider.listPods(), []);
      assert.deepEqual(learned, [[day]]);
      answer({});
      await provider.listPods();
      answer({ RateLimit: 'plenty' });
      for (let n = 0; n < 3; n += 1) await provider.listPods();
      assert.equal(learned.length, 1, 'an answer that tells nothing changes nothing');
      assert.deepEqual(oddities, [{ kind: 'malformed', subject: 'header RateLimit' }]);
      upstream.handlers['GET /v2/pods'] = json(429, {}, { RateLimit: '"day";r=0;t=9' });
      await assert.rejects(provider.listPods());
      assert.equal(learned[1]?.[0]?.remaining, 0, 'refusals tell as well');
      assert.deepEqual([await provider.pace?.('pods'), await provider.pace?.('offers')], [100, 400]);
    } finally {
      await upstream.stop();
    }
  });
});
