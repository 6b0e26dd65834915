import assert from 'node:assert/strict';
import { finalCents, longestMsAt } from '../../../domain/metering/metering.js';
import {
  endInLostTime,
  limitInLostTime,
  type LastUse,
  type RunHistory,
  type ToldEnd,
} from '../../../domain/operations/lost-time.js';

const SECOND = 1_000;
const began = Date.parse('2030-01-01T00:00:00.000Z');
/** This many seconds after the start of billing. */
const at = (seconds: number): Date => new Date(began + seconds * SECOND);

/** A cent each second; the backup has charged 300 of them. */
const use: LastUse = {
  runningAt: at(0),
  pricePerHourCents: 3_600,
  maxSpendCents: null,
  chargedCents: 300,
  limitAt: null,
};
const open: RunHistory = {
  closedAt: null,
  stoppedAt: null,
  endProvenAt: null,
  end: null,
  limitAt: undefined,
};
const told = (seconds: number, reason: ToldEnd['reason'], cents: number | null): ToldEnd => ({
  at: at(seconds).toISOString(),
  reason,
  cents,
});

/** What the history tells, and what becomes of it: the end in seconds, whose word, and the bill in cents. */
const cases: [
  title: string,
  run: Partial<RunHistory>,
  expected: [number, string, number],
  use?: Partial<LastUse>,
][] = [
  [
    'the first stop, though its machine took long to end',
    { stoppedAt: at(600), endProvenAt: at(602), closedAt: at(900) },
    [600, 'user', 600],
  ],
  ['the stop of a run that is still open', { stoppedAt: at(600) }, [600, 'user', 600]],
  [
    'the proof of an end that nobody pressed',
    { endProvenAt: at(700), closedAt: at(900) },
    [700, 'operator', 700],
  ],
  ['the end of its run, where the history tells no more', { closedAt: at(900) }, [900, 'operator', 900]],
  [
    'the noted end of a stop that never reached the run',
    { end: told(600, 'user', 600), endProvenAt: at(601), closedAt: at(900) },
    [600, 'user', 600],
  ],
  [
    'a limit that was lowered',
    { end: told(500, 'spend_limit', 500), endProvenAt: at(501) },
    [500, 'limit', 500],
  ],
  [
    'no later than the run, whatever was noted',
    { end: told(5_000, 'operator', null), closedAt: at(900) },
    [900, 'operator', 900],
  ],
  ['no earlier than the last charged cent', { stoppedAt: at(10) }, [300, 'user', 300]],
  [
    'where the shown bill is, if that is lower',
    { end: told(700, 'user', 600), closedAt: at(900) },
    [600.499, 'user', 600],
  ],
  [
    'not lower than what the database has seen in use',
    { end: told(700, 'user', 0), closedAt: at(900) },
    [300, 'user', 300],
  ],
  [
    'the formula, where the shown bill is higher',
    { end: told(700, 'user', 800), closedAt: at(900) },
    [700, 'user', 700],
  ],
  ['within the limit that it has here', { stoppedAt: at(600) }, [600, 'user', 400], { limitAt: at(400) }],
  [
    'within the spend limit that it has here',
    { stoppedAt: at(600) },
    [600, 'user', 350],
    { maxSpendCents: 350 },
  ],
  [
    'the last sight of a machine that was lost',
    { end: told(650, 'pod_lost', 650), closedAt: at(900) },
    [650, 'lost', 650],
  ],
  [
    'nothing for a machine that was lost in its first minute',
    { end: told(50, 'failed', 0), closedAt: at(900) },
    [50, 'lost', 0],
    { chargedCents: 40 },
  ],
  [
    'nothing for one that had not begun here',
    { stoppedAt: at(600), closedAt: at(900) },
    [600, 'user', 0],
    { runningAt: null, chargedCents: 0 },
  ],
];

describe('the end of a rental in the lost time of a restored database', () => {
  for (const [title, run, [seconds, by, cents], more] of cases) {
    it(`is ${title}`, () => {
      const end = endInLostTime({ ...open, ...run }, { ...use, ...more });
      assert.deepEqual([end?.at, end?.by, end?.billCents], [at(seconds), by, cents]);
    });
  }

  it('is none where the history shows none', () => {
    assert.equal(endInLostTime({ ...open, limitAt: at(900) }, use), null);
  });

  it('names both bills where they differ', () => {
    const end = endInLostTime({ ...open, end: told(700, 'user', 600) }, use);
    assert.deepEqual([end?.formulaCents, end?.toldCents, end?.billCents], [700, 600, 600]);
  });

  it('moves to the last millisecond that the formula rounds to a bill', () => {
    for (const [price, cents] of [
      [1, 0],
      [148, 16],
      [3_600, 1],
      [3_992, 77],
      [3_600_000, 3],
    ] as const) {
      const ms = longestMsAt(price, cents);
      assert.deepEqual([finalCents(price, ms, null), finalCents(price, ms + 1, null)], [cents, cents + 1]);
    }
  });
});

describe('the limit of a rental that goes on', () => {
  const limits: [
    title: string,
    there: Date | null | undefined,
    here: Date | null,
    expected: boolean | null,
  ][] = [
    ['agrees', at(900), at(900), null],
    ['is not told', undefined, at(900), null],
    ['was lowered', at(800), at(900), true],
    ['was set', at(800), null, true],
    ['was raised', at(1_000), at(900), false],
    ['was taken away', null, at(900), false],
  ];
  for (const [title, limitAt, here, isLowered] of limits) {
    it(title, () => {
      const limit = limitInLostTime({ ...open, limitAt }, { ...use, limitAt: here });
      assert.equal(limit?.isLowered ?? null, isLowered);
    });
  }
});
