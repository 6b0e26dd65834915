import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  progressOf,
  rentalPhases,
  type Progress,
  type ProgressFacts,
  type PurchaseFacts,
} from '../../../domain/rentals/progress.js';

const T = Date.UTC(2026, 10, 1, 12);
const at = (seconds: number): Date => new Date(T + seconds * 1_000);

const purchase = (over: Partial<PurchaseFacts> = {}): PurchaseFacts => ({
  attempt: 1,
  state: 'adopted',
  createdAt: at(-2),
  changedAt: at(-1),
  givenUpAt: null,
  answeredAt: null,
  launchAt: null,
  ...over,
});

const facts = (over: Partial<ProgressFacts> = {}): ProgressFacts => ({
  status: 'provisioning',
  isStopAsked: false,
  startedAt: at(0),
  runningAt: null,
  purchase: purchase(),
  activeAt: undefined,
  readiness: null,
  now: at(5),
  ...over,
});

const told = ({ phase, phaseSince, attempt }: Progress) => [phase, phaseSince?.toISOString(), attempt];
const iso = (seconds: number): string => at(seconds).toISOString();

describe('the progress of a rental', () => {
  it('is each phase in turn, since the instant at which it began', () => {
    const opened = purchase({ state: 'open', createdAt: at(3) });
    const found = purchase({ changedAt: at(4) });
    const answered = { ...found, answeredAt: at(9) };
    const running = { status: 'running', runningAt: at(10) } as const;
    const way: [Partial<ProgressFacts>, unknown][] = [
      [{ purchase: null }, ['queued', iso(0), 1]],
      [{ purchase: opened }, ['buying', iso(3), 1]],
      [{ purchase: found }, ['booting', iso(4), 1]],
      [{ purchase: found, activeAt: at(7) }, ['installing', iso(7), 1]],
      [{ purchase: answered, activeAt: at(7) }, ['checking', iso(9), 1]],
      [{ ...running, purchase: answered, activeAt: at(7) }, ['ready', iso(10), null]],
    ];
    for (const [over, expected] of way) assert.deepEqual(told(progressOf(facts(over))), expected);
  });

  it('is queued while its purchase waits for its turn, and expected from that turn on', () => {
    const waiting = purchase({ state: 'open', createdAt: at(1), launchAt: at(25) });
    const progress = progressOf(facts({ purchase: waiting, readiness: { p50: 60, p90: 90 } }));
    assert.deepEqual(told(progress), ['queued', iso(1), 1]);
    assert.equal(progress.expectedReadyAt?.toISOString(), iso(85));
  });

  it('waits for the next machine when the one that was asked for was given up', () => {
    const failed = purchase({ attempt: 2, state: 'failed', changedAt: at(6), givenUpAt: at(6) });
    assert.deepEqual(told(progressOf(facts({ purchase: failed }))), ['queued', iso(6), 3]);
    const gone = purchase({ attempt: 2, state: 'gone', changedAt: at(9), givenUpAt: at(6) });
    assert.deepEqual(told(progressOf(facts({ purchase: gone }))), ['queued', iso(6), 3]);
  });

  it('never began before the rental, nor before its machine was the rental’s', () => {
    assert.deepEqual(told(progressOf(facts({ purchase: purchase() }))), ['booting', iso(0), 1]);
    const late = purchase({ changedAt: at(8) });
    assert.deepEqual(told(progressOf(facts({ purchase: late, activeAt: at(3) }))), ['installing', iso(8), 1]);
  });

  it('is nothing once it ends or is asked to end', () => {
    const none = { phase: null, phaseSince: null, attempt: null, expectedReadyAt: null };
    const readiness = { p50: 60, p90: 90 };
    assert.deepEqual(progressOf(facts({ readiness, isStopAsked: true })), none);
    for (const status of ['stopping', 'stopped', 'failed'] as const) {
      assert.deepEqual(progressOf(facts({ readiness, status, runningAt: at(3) })), none);
    }
  });

  it('expects what half of such machines kept, then what nine of ten kept, then nothing', () => {
    const expected = (over: Partial<ProgressFacts>) =>
      progressOf(facts({ readiness: { p50: 60, p90: 90 }, ...over })).expectedReadyAt?.toISOString();
    assert.equal(expected({ now: at(59.999) }), iso(60));
    assert.equal(expected({ now: at(60) }), iso(90));
    assert.equal(expected({ now: at(90) }), undefined);
    assert.equal(expected({ readiness: null }), undefined);
    const second = purchase({ attempt: 2, state: 'open', createdAt: at(30) });
    assert.equal(
      expected({ purchase: second, now: at(31) }),
      iso(90),
      'counted from the machine’s own purchase',
    );
    assert.equal(expected({ purchase: { ...second, state: 'failed', givenUpAt: at(31) } }), undefined);
    assert.equal(expected({ status: 'running', runningAt: at(40) }), undefined);
  });

  it('never goes back on one attempt, in whichever order facts come in', () => {
    // What the service learns, in an order in which it can: each list holds for one machine after the other.
    const learnt = fc.array(fc.constantFrom('open', 'adopted', 'active', 'answered', 'given up'), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(learnt, (events) => {
        let now = facts({ purchase: null });
        let last = [0, -1] as [attempt: number, phase: number];
        events.forEach((event, index) => {
          now = after(now, event, at(index + 1));
          const { phase, attempt } = progressOf(now);
          const next: typeof last = [attempt!, rentalPhases.indexOf(phase!)];
          assert.ok(
            next[0] > last[0] || (next[0] === last[0] && next[1] >= last[1]),
            `${last.join()} to ${next.join()}`,
          );
          last = next;
        });
      }),
    );
  });
});

/** What each event changes, where it can happen. */
const changes: Readonly<
  Record<string, (now: ProgressFacts, known: PurchaseFacts, instant: Date) => Partial<ProgressFacts>>
> = {
  adopted: (_, known, instant) =>
    known.state === 'open' ? { purchase: { ...known, state: 'adopted', changedAt: instant } } : {},
  active: (now, _, instant) => ({ activeAt: now.activeAt ?? instant }),
  answered: (_, known, instant) =>
    known.state === 'adopted' ? { purchase: { ...known, answeredAt: known.answeredAt ?? instant } } : {},
  'given up': (_, known, instant) =>
    known.state === 'open'
      ? { purchase: { ...known, state: 'failed', changedAt: instant, givenUpAt: instant } }
      : {},
};

function after(now: ProgressFacts, event: string, instant: Date): ProgressFacts {
  const { purchase: known } = now;
  if (known !== null && known.state !== 'failed') {
    return { ...now, ...changes[event]?.(now, known, instant) };
  }
  if (event !== 'open') return now;
  const attempt = (known?.attempt ?? 0) + 1;
  const next = purchase({ attempt, state: 'open', createdAt: instant, changedAt: instant });
  return { ...now, purchase: next, activeAt: undefined };
}
