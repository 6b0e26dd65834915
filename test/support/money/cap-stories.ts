import fc from 'fast-check';

/** What a machine costs an hour, in cents. */
export const PRICE = 700;

/** Which of the rentals that were opened before: the number counts from the newest, round and round. */
export type Which = { readonly which: number };
/** One event of an account. */
export type Step =
  | { readonly kind: 'open'; readonly by: number; readonly asked: number | null }
  | ({ readonly kind: 'change'; readonly to: number | null } & Which)
  | ({ readonly kind: 'run' | 'stop' | 'settle' | 'fail' | 'lose' } & Which)
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'tick' }
  | { readonly kind: 'cap'; readonly by: number; readonly to: number | null }
  | { readonly kind: 'budget'; readonly to: number };

const which = { which: fc.nat(5) };
const cents = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 6_000 }));
const orNone = fc.option(cents, { nil: null, freq: 3 });
const of = <K extends string>(kind: K) => fc.record({ kind: fc.constant(kind), ...which });
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('open' as const), by: fc.nat(2), asked: orNone }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), to: orNone, ...which }) },
    { weight: 6, arbitrary: of('run' as const) },
    { weight: 3, arbitrary: of('stop' as const) },
    { weight: 5, arbitrary: of('settle' as const) },
    { weight: 1, arbitrary: of('fail' as const) },
    { weight: 1, arbitrary: of('lose' as const) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('pass' as const),
        ms: fc.oneof(fc.nat(90_000), fc.nat(7_200_000), fc.nat(20 * 86_400_000)),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('tick' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('cap' as const), by: fc.nat(1), to: orNone }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('budget' as const), to: cents }) },
  ),
  { minLength: 8, maxLength: 40 },
);

const HOUR = 3_600_000;
const opening = (by: number, asked: number | null): Step => ({ kind: 'open', by, asked });
const pass = (ms: number): Step => ({ kind: 'pass', ms });
const runs: Step = { kind: 'run', which: 0 };
const ticks: Step = { kind: 'tick' };

/** A capped rental whose money ends long before the next tick: it settles with overage. */
const overdue = fc
  .integer({ min: 4, max: 12 })
  .map((hours) => [
    opening(0, null),
    runs,
    pass(hours * HOUR),
    ticks,
    { kind: 'settle', which: 0 } as const,
    opening(0, 1),
  ]);

/** A machine is lost after it was metered, the turn of a month passes, and the cap and the budget get full. */
const rich: readonly Step[] = [
  ...[opening(0, null), runs, pass(HOUR), ticks, { kind: 'lose', which: 0 } as const],
  ...[opening(2, 1_000), runs, pass(20 * 86_400_000), pass(20 * 86_400_000)],
  ...[opening(0, null), opening(0, null), opening(0, 6_000)],
  ...[opening(2, 6_000), opening(2, 6_000), opening(2, 6_000)],
];

interface Story {
  readonly funds: number;
  readonly cap: number;
  readonly story: readonly Step[];
}

const greatCap = fc.integer({ min: 4 * PRICE, max: 9_000 });

/** Stories of wallets with little more than an hour's price, and of rich ones. */
export const stories = {
  poor: fc
    .tuple(fc.integer({ min: PRICE, max: 3 * PRICE }), greatCap, overdue, steps)
    .map(([funds, cap, scene, story]): Story => ({ funds, cap, story: [...scene, ...story] })),
  rich: fc
    .tuple(greatCap, steps)
    .map(([cap, story]): Story => ({ funds: 1_000_000_000, cap, story: [...rich, ...story] })),
  any: fc
    .tuple(fc.integer({ min: 1, max: 9_000 }), steps)
    .map(([cap, story]): Story => ({ funds: 1_000_000_000, cap, story })),
};
