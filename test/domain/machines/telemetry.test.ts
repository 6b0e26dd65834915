import assert from 'node:assert/strict';
import { HOUR, MINUTE, SECOND } from '../../../domain/durations.js';
import {
  bytesPerMinute,
  noUse,
  packMinute,
  pointsOf,
  UseMinutes,
  usesIn,
  type ListedUse,
} from '../../../domain/machines/telemetry.js';

const START = Date.parse('2026-11-01T09:58:00Z');
const use = (busiest: number | null, rest: Partial<ListedUse> = {}): ListedUse => ({
  ...{ ...noUse, report: null, gpuPercent: busiest, busiestGpuPercent: busiest },
  ...rest,
});
const list = (one: ListedUse) => new Map([['p', one]]);

describe('minutes of use', () => {
  it('are told once each is over: means of what is looked at, the most of what decides', () => {
    const times = { firstMs: START, lastMs: START + 30 * SECOND };
    const minutes = new UseMinutes();
    assert.deepEqual(minutes.take(START, list(use(0, { cpuPercent: 10 }))), []);
    assert.deepEqual(minutes.take(START + 30 * SECOND, list(use(60, { cpuPercent: 20 }))), []);
    assert.deepEqual(minutes.take(START + 61 * SECOND, list(use(1))), [
      { ...noUse, podId: 'p', atMs: START, ...times, gpuPercent: 30, busiestGpuPercent: 60, cpuPercent: 20 },
    ]);
    assert.deepEqual(minutes.take(START + 62 * SECOND, new Map()), []);
    // A machine that the lists no longer show is told up to then.
    assert.deepEqual(
      minutes.take(START + 9 * MINUTE, new Map()).map(({ atMs }) => atMs),
      [START + MINUTE],
    );
    assert.deepEqual(minutes.take(START + 10 * MINUTE, new Map()), []);
  });

  it('do not tell the busiest where one list did not: that one may have been in use', () => {
    const minutes = new UseMinutes();
    minutes.take(START, list(use(3)));
    minutes.take(START + SECOND, list(use(null)));
    const [minute] = minutes.take(START + MINUTE, new Map());
    assert.deepEqual([minute?.gpuPercent, minute?.busiestGpuPercent], [3, null]);
  });

  it('come to an end two minutes after the machine’s last report, and go on with the next', () => {
    const minutes = new UseMinutes();
    const told: number[] = [];
    for (let second = 0; second < 600; second += 10) {
      const report = second < 60 ? second : second < 420 ? 60 : second;
      const over = minutes.take(START + second * SECOND, list(use(0, { report })));
      told.push(...over.map(({ atMs }) => (atMs - START) / MINUTE));
    }
    assert.deepEqual(told, [0, 1, 2, 3, 7, 8]);
  });

  it('begin with a report that differs from the first: that may be an old one', () => {
    const minutes = new UseMinutes();
    for (let second = 0; second < 300; second += 10) {
      const listed = second === 150 ? new Map<string, never>() : list(use(0, { report: 7 }));
      assert.deepEqual(minutes.take(START + second * SECOND, listed), []);
    }
    minutes.take(START + 300 * SECOND, list(use(0, { report: 8 })));
    assert.deepEqual(
      minutes.take(START + 360 * SECOND, list(use(0, { report: 9 }))).map(({ firstMs }) => firstMs),
      [START + 300 * SECOND],
    );
  });

  it('are told before they are over when the lists end', () => {
    const minutes = new UseMinutes();
    minutes.take(START, list(use(0)));
    minutes.take(START + 10 * SECOND, list(use(80)));
    const [minute] = minutes.end();
    assert.deepEqual([minute?.busiestGpuPercent, minute?.lastMs], [80, START + 10 * SECOND]);
    assert.deepEqual(minutes.end(), []);
  });

  it('are those of active machines alone', () => {
    const pods = [
      { podId: 'a', status: 'active', use: use(1) },
      { podId: 'b', status: 'pending', use: use(1) },
      { podId: 'c', status: 'active' },
    ];
    assert.deepEqual([...usesIn(pods).keys()], ['a']);
  });
});

describe('points of kept hours', () => {
  const hourOf = (from: number) => ({
    ...{ hour: new Date(from), source: 'upstream' as const, minutes: new Uint8Array(300).fill(255) },
  });
  const [ten, nine] = [hourOf(START + 2 * MINUTE), hourOf(START - 58 * MINUTE)];
  nine.minutes.set(packMinute(use(41.6)), 58 * bytesPerMinute);
  nine.minutes.set(packMinute(use(120)), 59 * bytesPerMinute);
  ten.minutes.set(packMinute(use(-1)), 0);

  it('are minutes, beyond the hour too; what was not told is null', () => {
    const window = { from: new Date(START), to: new Date(START + 4 * MINUTE), points: 120 };
    const { stepSeconds, points } = pointsOf([nine, ten], window);
    assert.equal(stepSeconds, 60);
    assert.deepEqual(
      points.map(({ at, gpuPercent, cpuPercent }) => [at.getTime() - START, gpuPercent, cpuPercent]),
      [
        [0, 42, null],
        [MINUTE, 100, null],
        [2 * MINUTE, 0, null],
        [3 * MINUTE, null, null],
      ],
    );
  });

  it('are no more than were asked for, each the mean of its minutes and the most of the busiest', () => {
    for (const points of [1, 2, 3, 7, 100]) {
      for (const hours of [1, 3, 25, 700]) {
        const from = new Date(START + 17 * SECOND);
        const found = pointsOf([nine, ten], { from, to: new Date(START + hours * HOUR), points });
        assert.ok(found.points.length <= points, `${found.points.length} of ${points}`);
      }
    }
    const window = { from: new Date(START), to: new Date(START + 4 * MINUTE), points: 2 };
    const [first] = pointsOf([nine, ten], window).points;
    assert.deepEqual([first?.gpuPercent, first?.busiestGpuPercent], [71, 100]);
  });
});
