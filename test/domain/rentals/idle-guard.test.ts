import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  UseMinutes,
  type ListedUse,
  type MinuteOfUse,
  type TelemetryTold,
} from '../../../domain/machines/telemetry.js';
import {
  guardMisfitsOf,
  isIdle,
  judgeIdle,
  lookedAt,
  type GuardState,
  type Ignorable,
} from '../../../domain/rentals/idle-guard.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const LIST_MS = 10 * SECOND;
const START = Date.parse('2026-11-01T00:00:00Z');
const TRACES = 200;

const told: TelemetryTold = { cpu: true, network: false, sessions: false };
const idle: ListedUse = {
  ...{
    report: null,
    gpuPercent: 0,
    busiestGpuPercent: 1,
    gpuMemoryPercent: 0,
    cpuPercent: 2,
    memoryPercent: 3,
  },
  ...{ networkBytesPerSecond: null, sessions: null },
};

describe('what an idle guard looks at', () => {
  const ignores = ['sessions'] as const;
  const cases: readonly (readonly [string, Partial<ListedUse>, boolean, Partial<TelemetryTold>?])[] = [
    ['nothing runs', {}, true],
    ['a GPU just below the limit', { busiestGpuPercent: 4.9 }, true],
    ['a GPU at the limit', { busiestGpuPercent: 5 }, false],
    ['one busy GPU among idle ones', { gpuPercent: 1, busiestGpuPercent: 8 }, false],
    ['a GPU of which nothing is told', { busiestGpuPercent: null }, false],
    ['busy processors', { cpuPercent: 20 }, false],
    ['processors of which nothing is told', { cpuPercent: null }, false],
    ['processors that this upstream never tells', { cpuPercent: null }, true, { cpu: false }],
    ['a busy network', { networkBytesPerSecond: 1_000_000 }, false, { network: true }],
    ['a quiet network', { networkBytesPerSecond: 999_999 }, true, { network: true }],
    ['a network that is not told now', {}, false, { network: true }],
  ];
  for (const [what, use, expected, more] of cases) {
    it(`${what}: ${expected ? 'idle' : 'in use'}`, () => {
      assert.equal(isIdle({ ...idle, ...use }, { ...told, ...more }, { ignores }), expected);
    });
  }

  it('is a session, unless it may be ignored; one that is not told counts as use', () => {
    const of = (sessions: number | null, some: readonly Ignorable[]) =>
      isIdle({ ...idle, sessions }, { ...told, sessions: true }, { ignores: some });
    assert.deepEqual([of(0, []), of(1, []), of(null, []), of(1, ['sessions'])], [true, false, false, true]);
    assert.deepEqual(lookedAt({ ...told, sessions: true }, { ignores: [] }), ['gpu', 'cpu', 'sessions']);
    assert.deepEqual(lookedAt(told, { ignores }), ['gpu', 'cpu']);
  });

  it('is refused by name where it is not told', () => {
    const guard = { minutes: 30, ignores: [] };
    const fieldsOf = (...args: Parameters<typeof guardMisfitsOf>) =>
      guardMisfitsOf(...args).map(({ field }) => field);
    assert.deepEqual(fieldsOf(undefined, null), []);
    assert.deepEqual(fieldsOf(guard, null), ['stopWhenIdleMinutes']);
    assert.deepEqual(fieldsOf(guard, told), ['idleIgnores']);
    assert.deepEqual(fieldsOf({ ...guard, ignores }, told), []);
    assert.deepEqual(fieldsOf(guard, { ...told, sessions: true }), []);
  });
});

describe('a minute that is judged late', () => {
  const atMs = START + HOUR;
  const minute = { atMs, firstMs: atMs, lastMs: atMs + 50 * SECOND, isIdle: true };
  const guard = { minutes: 15, keepAliveUntilMs: null };

  it('stops nothing and warns of nothing: what the machine did since is not known', () => {
    const state = { idleSinceMs: START, seenMs: atMs - SECOND, stopsAtMs: atMs };
    assert.equal(judgeIdle(guard, state, minute, minute.lastMs + 2 * MINUTE).act, 'stop');
    const lateMs = minute.lastMs + 2 * MINUTE + 1;
    assert.deepEqual(judgeIdle(guard, state, minute, lateMs), {
      ...{ idleSinceMs: START, seenMs: minute.lastMs, stopsAtMs: atMs, act: 'none' },
    });
    const unwarned = judgeIdle(guard, { ...state, stopsAtMs: null }, minute, lateMs);
    assert.deepEqual([unwarned.act, unwarned.stopsAtMs], ['none', null]);
  });

  it('tells use all the same', () => {
    const state = { idleSinceMs: START, seenMs: atMs - SECOND, stopsAtMs: atMs };
    assert.deepEqual(judgeIdle(guard, state, { ...minute, isIdle: false }, minute.lastMs + HOUR), {
      ...{ idleSinceMs: null, seenMs: minute.lastMs, stopsAtMs: null, act: 'none' },
    });
  });

  it('changes nothing where it was judged before', () => {
    const state = { idleSinceMs: START, seenMs: START + HOUR, stopsAtMs: START + HOUR };
    const minute = { atMs: START, firstMs: START, lastMs: START + HOUR, isIdle: true };
    const verdict = judgeIdle({ minutes: 15, keepAliveUntilMs: null }, state, minute, START + HOUR);
    assert.deepEqual(verdict, { ...state, act: 'none' });
  });
});

describe('a silence of minutes', () => {
  const guard = { minutes: 15, keepAliveUntilMs: null };
  const warned = { idleSinceMs: START, seenMs: START + 14 * MINUTE, stopsAtMs: START + 16 * MINUTE };
  const after = (silentMs: number, state: GuardState = warned, minutes = guard.minutes) => {
    const atMs = warned.seenMs + silentMs;
    return judgeIdle({ ...guard, minutes }, state, { firstMs: atMs, lastMs: atMs, isIdle: true }, atMs);
  };

  it('moves the end on, and what was told of it', () => {
    assert.equal(after(2 * MINUTE).act, 'stop');
    const silentMs = 5 * MINUTE;
    assert.deepEqual(after(silentMs), {
      ...{ idleSinceMs: START + silentMs, seenMs: warned.seenMs + silentMs },
      ...{ stopsAtMs: warned.stopsAtMs + silentMs, act: 'none' },
    });
    const unwarned = { ...warned, stopsAtMs: null };
    assert.equal(after(silentMs, unwarned, 120).idleSinceMs, START + silentMs);
    assert.equal(after(silentMs, { ...unwarned, idleSinceMs: null }).idleSinceMs, START + 19 * MINUTE);
  });

  it('counts as use beyond five minutes and a tenth of the guard’s', () => {
    const anew = (silentMs: number, minutes: number) =>
      after(silentMs, { ...warned, stopsAtMs: null }, minutes).idleSinceMs === warned.seenMs + silentMs;
    for (const [minutes, longest] of [
      [15, 5],
      [50, 5],
      [120, 12],
      [1_440, 144],
    ] as const) {
      assert.deepEqual(
        [anew(longest * MINUTE, minutes), anew(longest * MINUTE + 1, minutes)],
        [false, true],
        `${minutes}`,
      );
    }
    assert.equal(after(5 * MINUTE + 1).stopsAtMs, null);
  });

  /** Reports of an idle machine, once in a little more than a minute, of which some get lost. */
  const lossy = fc.record({
    minutes: fc.constantFrom(15, 30, 60, 240, 1_440),
    lost: fc.infiniteStream(fc.nat(99).map((percent) => percent < 20)),
  });

  it('never lets an idle machine go on for longer than its minutes, what was lost, and 20 minutes', () => {
    fc.assert(
      fc.property(lossy, ({ minutes, lost }) => {
        let state: GuardState = { idleSinceMs: null, seenMs: null, stopsAtMs: null };
        let [silentMs, warnings, inARow] = [0, 0, 0];
        for (let atMs = START; ; atMs += MINUTE + 50) {
          // Three in a row are a silence of four minutes.
          inARow = lost.next().value && inARow < 3 ? inARow + 1 : 0;
          if (inARow > 0) continue;
          silentMs += state.seenMs === null || atMs - state.seenMs <= 2 * MINUTE ? 0 : atMs - state.seenMs;
          const told = { firstMs: atMs, lastMs: atMs, isIdle: true };
          const { act, ...next } = judgeIdle({ minutes, keepAliveUntilMs: null }, state, told, atMs + 5_000);
          state = next;
          warnings += Number(act === 'warn');
          assert.ok(atMs - START <= (minutes + 20) * MINUTE + silentMs, `${minutes} minutes`);
          if (act === 'stop') break;
        }
        assert.equal(warnings, 1);
      }),
      { seed: 6, numRuns: 300 },
    );
  });
});

/** What one list shows of the machine; undefined: no list came, or none that told its use. */
interface Look {
  readonly atMs: number;
  readonly use: ListedUse | undefined;
}

interface Trace {
  readonly minutes: number;
  readonly told: TelemetryTold;
  readonly ignores: readonly Ignorable[];
  readonly looks: readonly Look[];
  /** When another watcher goes on: after the end of the last one's time, or after its crash. */
  readonly restarts: readonly { readonly atMs: number; readonly isCrash: boolean }[];
  readonly keeps: readonly { readonly atMs: number; readonly untilMs: number }[];
}

/** How a machine is for some minutes: idle above all. */
const phases = [
  ...(['idle', 'idle', 'idle', 'gpu', 'cpu', 'session', 'untold', 'silent', 'stale', 'blip'] as const),
];
type Phase = (typeof phases)[number];

function useIn(phase: Phase, report: number, tellsSessions: boolean): ListedUse | undefined {
  if (phase === 'silent') return undefined;
  const sessions = tellsSessions ? Number(phase === 'session') : null;
  const told = { ...idle, report, sessions };
  const busy: Partial<Record<Phase, Partial<ListedUse>>> = {
    gpu: { busiestGpuPercent: 60 },
    blip: { busiestGpuPercent: 60 },
    cpu: { cpuPercent: 80 },
    untold: { busiestGpuPercent: null },
  };
  return { ...told, ...busy[phase] };
}

/** Hours of a machine, in phases of some minutes: idle ones above all, and every kind of use and silence. */
function traceOf(seed: number): Trace {
  const numbers = fc.sample(fc.nat(2 ** 31 - 1), { seed, numRuns: 2_000 });
  const among = (from: number, to: number): number => from + (numbers.pop()! % (to - from + 1));
  const oneOf = <T>(...all: readonly T[]): T => all[among(0, all.length - 1)]!;
  const minutes = oneOf(15, 16, 20, 30, 45, 60);
  const tellsSessions = oneOf(true, false);
  const ignores = tellsSessions ? oneOf<readonly Ignorable[]>([], ['sessions']) : (['sessions'] as const);
  const end = START + 8 * HOUR;
  const longestIdle = oneOf(12, 40, 120);
  const looks: Look[] = [];
  let atMs = START + among(0, 59) * SECOND;
  while (atMs < end) {
    const phase = oneOf(...phases);
    const longest = phase === 'idle' ? longestIdle : 12;
    const untilMs = atMs + (phase === 'blip' ? LIST_MS : among(1, longest) * MINUTE);
    const fromMs = atMs;
    for (; atMs < untilMs; atMs += LIST_MS) {
      looks.push({ atMs, use: useIn(phase, phase === 'stale' ? fromMs : atMs, tellsSessions) });
    }
  }
  const keeps = Array.from({ length: oneOf(0, 1, 3, 6) }, () => {
    const keptMs = START + among(0, 4 * 60) * MINUTE;
    return { atMs: keptMs, untilMs: keptMs + among(1, 60) * MINUTE };
  });
  const restarts: { atMs: number; isCrash: boolean }[] = [];
  for (let nextMs = START; nextMs < end;) {
    nextMs += among(2, 20) * MINUTE + among(0, 59) * SECOND;
    restarts.push({ atMs: nextMs, isCrash: oneOf(true, false) });
  }
  return { minutes, told: { ...told, sessions: tellsSessions }, ignores, looks, restarts, keeps };
}

interface Played {
  readonly stoppedMs: number | null;
  readonly warnings: readonly { readonly atMs: number; readonly stopsAtMs: number }[];
}

/** The minutes that watchers tell, one watcher after the other, and when. */
function* minutesOf({ looks, restarts }: Trace): Generator<MinuteOfUse & { readonly nowMs: number }> {
  let lists = new UseMinutes();
  const coming = [...restarts];
  for (const { atMs, use } of looks) {
    const over: MinuteOfUse[] = [];
    while (coming[0] && coming[0].atMs <= atMs) {
      if (!coming.shift()!.isCrash) over.push(...lists.end());
      lists = new UseMinutes();
    }
    over.push(...lists.take(atMs, new Map(use ? [['p', use]] : [])));
    for (const minute of over) yield { ...minute, nowMs: atMs };
  }
}

/** Plays a trace, minute by minute, until it stops. */
function play(trace: Trace): Played {
  const { minutes, told: tells, ignores, keeps } = trace;
  const warnings: { atMs: number; stopsAtMs: number }[] = [];
  let state: GuardState = { idleSinceMs: null, seenMs: null, stopsAtMs: null };
  for (const { nowMs, ...minute } of minutesOf(trace)) {
    const untils = keeps.filter((keep) => keep.atMs <= nowMs).map(({ untilMs }) => untilMs);
    const keepAliveUntilMs = untils.length === 0 ? null : Math.max(...untils);
    const judged = { ...minute, isIdle: isIdle(minute, tells, { ignores }) };
    const { act, ...next } = judgeIdle({ minutes, keepAliveUntilMs }, state, judged, nowMs);
    state = next;
    if (act === 'warn') warnings.push({ atMs: nowMs, stopsAtMs: next.stopsAtMs ?? 0 });
    if (act === 'stop') return { stoppedMs: nowMs, warnings };
  }
  return { stoppedMs: null, warnings };
}

/** The oracle: it looks at the trace alone, instant by instant, and knows neither minutes nor states. */
const oracle = {
  /** Whether this look shows that nobody uses the machine. */
  showsIdle({ told: tells, ignores }: Trace, { use }: Look): boolean {
    const { busiestGpuPercent: gpu, cpuPercent: cpu } = use ?? { busiestGpuPercent: null, cpuPercent: null };
    if (gpu === null || cpu === null || gpu >= 5 || cpu >= 20) return false;
    return ignores.length > 0 || (tells.sessions && use?.sessions === 0);
  },
  /**
   * For each look, whether its report is known to be two minutes old at most. Nobody knows that of a watcher's first,
   * and what it saw of its last minute is lost with it in a crash.
   */
  freshness({ looks, restarts }: Trace): boolean[] {
    const firstSeen = new Map<number | null, number>();
    const begins = new Set([0, ...restarts.map(({ atMs }) => looks.findIndex((look) => look.atMs >= atMs))]);
    const crashes = restarts.filter(({ isCrash }) => isCrash);
    let isFirst = false;
    return looks.map(({ atMs, use }, at) => {
      isFirst ||= begins.has(at);
      if (use === undefined) return false;
      if (!firstSeen.has(use.report)) firstSeen.set(use.report, atMs);
      const isLost = crashes.some((crash) => crash.atMs > atMs && minuteOf(crash.atMs) === minuteOf(atMs));
      const isKnown = !isFirst && !isLost;
      isFirst = false;
      return isKnown && atMs - firstSeen.get(use.report)! <= 2 * MINUTE;
    });
  },
  /** For each look, since when every look shows it idle by a new report; null: it does not itself. */
  idleSince(trace: Trace): (number | null)[] {
    let sinceMs: number | null = null;
    let report: number | null | undefined;
    return trace.looks.map((look) => {
      const isNew = look.use?.report !== report;
      report = look.use?.report;
      sinceMs = isNew && oracle.showsIdle(trace, look) ? (sinceMs ?? look.atMs) : null;
      return sinceMs;
    });
  },
};

/** The oracle's verdict of an end: all that was told before it shows the machine idle, and its renter was warned. */
function refuseWrongEnd(name: string, trace: Trace, stoppedMs: number, warnings: Played['warnings']): void {
  refuseUse(name, trace, stoppedMs);
  for (const keep of trace.keeps.filter(({ atMs }) => atMs <= stoppedMs)) {
    assert.ok(keep.untilMs <= stoppedMs, `${name} was kept alive`);
  }
  const last = warnings.at(-1);
  assert.ok(
    last && stoppedMs >= last.stopsAtMs && stoppedMs - last.atMs >= 10 * MINUTE,
    `${name}: no warning`,
  );
}

const minuteOf = (atMs: number): number => Math.floor(atMs / MINUTE);

/** Looks back from the end: what shows the machine idle adds up to its minutes, and no silence in between is long. */
function refuseUse(name: string, trace: Trace, stoppedMs: number): void {
  const fresh = oracle.freshness(trace);
  const isTold = ({ atMs, use }: Look, at: number) => use && fresh[at] && atMs < stoppedMs - LIST_MS;
  let [idleMs, laterMs] = [0, stoppedMs];
  for (const look of trace.looks.filter(isTold).toReversed()) {
    const gapMs = laterMs - look.atMs;
    const longestMs = idleMs === 0 ? 2 * MINUTE : Math.max(5, trace.minutes / 10) * MINUTE;
    assert.ok(gapMs <= longestMs, `${name} was silent until ${new Date(laterMs).toISOString()}`);
    assert.ok(oracle.showsIdle(trace, look), `${name} was in use at ${new Date(look.atMs).toISOString()}`);
    idleMs += gapMs <= 2 * MINUTE ? gapMs : 0;
    if (idleMs >= trace.minutes * MINUTE) return;
    laterMs = look.atMs;
  }
  assert.fail(`${name} was not told to be idle yet`);
}

describe(`${TRACES} seeded traces of an idle guard`, () => {
  const counts = { stopped: 0, kept: 0, warnedAnew: 0, lasted: 0, withSessions: 0 };
  const traces = Array.from({ length: TRACES }, (_, seed) => traceOf(seed + 1));
  const played = traces.map((trace) => ({ trace, ...play(trace) }));

  it('stop no machine with a session, with use, with silence or while it is kept alive', () => {
    for (const [index, { trace, stoppedMs, warnings }] of played.entries()) {
      counts.withSessions += Number(trace.told.sessions && trace.ignores.length === 0);
      counts.warnedAnew += Number(warnings.length > 1);
      if (stoppedMs === null) {
        counts.lasted += 1;
        continue;
      }
      counts.stopped += 1;
      counts.kept += Number(trace.keeps.some(({ atMs }) => atMs <= stoppedMs));
      refuseWrongEnd(`trace ${index + 1}`, trace, stoppedMs, warnings);
    }
  });

  it('stop an idle one within a minute of its time', () => {
    for (const [index, { trace, stoppedMs, warnings }] of played.entries()) {
      const lastMs = stoppedMs ?? trace.looks.at(-1)!.atMs;
      const sinces = oracle.idleSince(trace);
      // The first look by which it must have been stopped; a keep-alive moves that, and has it warned of anew.
      const mustEnd = trace.looks.find(({ atMs }, at) => {
        const sinceMs = sinces[at];
        if (sinceMs === null || sinceMs === undefined) return false;
        const keeps = trace.keeps.filter((keep) => keep.atMs <= atMs);
        const dues = keeps.map((keep) => Math.max(keep.untilMs, keep.atMs + 11 * MINUTE));
        const dueMs = Math.max(sinceMs + trace.minutes * MINUTE, ...dues);
        // It is known once its minute is over, and with the next list; a crash hides its beginning or its end.
        const isHidden = trace.restarts.some((one) => one.isCrash && one.atMs > sinceMs && one.atMs <= atMs);
        return atMs > dueMs + (MINUTE + LIST_MS) * (isHidden ? 3 : 1);
      });
      assert.ok(mustEnd === undefined || lastMs <= mustEnd.atMs, `trace ${index + 1} goes on`);
      for (const { atMs, stopsAtMs } of warnings) assert.ok(stopsAtMs - atMs >= 10 * MINUTE);
    }
  });

  it('hold enough of each kind', () => {
    for (const [kind, count] of Object.entries(counts)) assert.ok(count >= 10, `${kind}: ${count}`);
  });
});
