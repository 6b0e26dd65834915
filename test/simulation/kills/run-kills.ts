import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../kernel/chance.js';
import { judgeBills } from '../oracle/bills.js';
import { judgeConservation } from '../oracle/conservation.js';
import { rentalOf, type Evidence } from '../oracle/evidence.js';
import { judgeLedgers } from '../oracle/ledgers.js';
import { judgeMachines } from '../oracle/machines.js';
import { judgeMoney } from '../oracle/money.js';
import { judgeProgress } from '../oracle/progress.js';
import { judgeRentals } from '../oracle/rentals.js';
import { setUp } from '../set-up.js';
import { noteRental, stop } from '../users/acts/renting.js';
import { Told } from '../users/told.js';
import { User } from '../users/user.js';
import { dialects, type Habits } from '../world/dialects.js';
import type { World } from '../world/world.js';
import { Killer } from './killer.js';
import { killPointsAt } from './points.js';

export interface KillOptions {
  readonly seed: number;
  readonly dialect: Habits['name'];
  readonly databaseUrl: string;
  readonly controlUrl: string;
}

export interface KillReport {
  readonly violations: readonly string[];
  /** The phases in which a worker was to be killed, and those in which it was. */
  readonly phases: readonly string[];
  readonly killed: readonly string[];
  readonly rentals: number;
  /** The answers that the user got, such as "create 200". */
  readonly answers: Readonly<Record<string, number>>;
}

const MINUTE_MS = 60_000;
const START_MS = Date.parse('2031-03-04T08:00:00Z');
/** So many rentals begin at once: where one machine is sold at a time, one of them waits for its turn. */
const AT_ONCE = 3;
/** By then a machine runs, or is gone, even where a worker was killed meanwhile. */
const ENOUGH_MS = 5 * MINUTE_MS;
/** How often it is asked whether all of them do. */
const LOOK_EVERY_MS = 10_000;
const judges = [
  ...[judgeLedgers, judgeConservation, judgeRentals, judgeBills],
  ...[judgeMoney, judgeMachines, judgeProgress],
];

/** Rents at two upstreams of one dialect, and kills the worker in each phase of a rental, one after the other. */
export async function runKills(options: KillOptions): Promise<KillReport> {
  const habits = dialects[options.dialect];
  const { kernel, statements, world, service } = await setUp({ ...options, traceFile: undefined }, START_MS, [
    habits,
    habits,
  ]);
  const told = new Told();
  const user = new User('user1@example.com', {
    ...{ kernel, chance: new Chance(options.seed, 'user'), act: () => undefined, service, world, told },
    ...{ untilMs: Infinity, paceMs: MINUTE_MS },
  });
  const pass = (ms: number): Promise<void> => kernel.run(kernel.nowMs + ms);
  const passUntil = async (isThere: () => Promise<boolean>): Promise<void> => {
    const untilMs = kernel.nowMs + ENOUGH_MS;
    while (kernel.nowMs < untilMs && !(await isThere())) await pass(LOOK_EVERY_MS);
  };
  /** Counts the rentals of which something holds. */
  const count = async (what: string): Promise<number> =>
    (await statements.ask(`select id from rentals where ${what}`)).length;
  const errors: string[] = [];
  const begin = (work: Promise<void>): void =>
    void work.catch((error: unknown) => errors.push(`a user's script failed: ${String(error)}`));
  begin(user.signIn());
  await pass(3 * MINUTE_MS);
  begin(pay(user, world));
  await pass(3 * MINUTE_MS);
  const killer = new Killer(service);
  statements.faults = killer;
  for (const upstream of world.upstreams) upstream.onCall = (name, caller) => killer.called(name, caller);
  const killed: string[] = [];
  const points = killPointsAt(habits);
  for (const point of points) {
    killer.arm(point);
    const before = user.rentals.length;
    for (let no = 0; no < AT_ONCE; no += 1) begin(rentOne(user));
    // Each was answered, and has its machine: the others of before are closed.
    await passUntil(
      async () => user.rentals.length === before + AT_ONCE && (await count(`status = 'running'`)) === AT_ONCE,
    );
    for (const rentalId of user.rentals.slice(before)) begin(stop(user, rentalId));
    await passUntil(async () => killer.hasKilled && (await count('closed_at is null')) === 0);
    if (killer.hasKilled) killed.push(point.phase);
  }
  statements.faults = undefined;
  const calmSinceMs = kernel.nowMs;
  await pass(20 * MINUTE_MS);
  const evidence: Evidence = {
    ...{ told, world, machines: world.machines, calmSinceMs, nowMs: kernel.nowMs, refused: [] },
    ask: (sql, values) => statements.ask(sql, values),
  };
  const found = await Promise.all(judges.map((judge) => judge(evidence)));
  return {
    violations: [...found.flat(), ...told.strange, ...errors, ...judgePurchases(user, world)],
    phases: points.map(({ phase }) => phase),
    ...{ killed, rentals: user.rentals.length, answers: Object.fromEntries(told.reached) },
  };
}

/** Whoever was killed, and where: one machine is bought for a rental, and none is left. */
function judgePurchases({ rentals }: User, { machines }: World): string[] {
  return [
    ...rentals.flatMap((id) => {
      const { length } = machines.filter((machine) => rentalOf(machine) === id);
      return length <= 1 ? [] : [`${length} machines were bought for ${id}`];
    }),
    ...machines.filter(({ goneMs }) => goneMs === undefined).map(({ podId }) => `${podId} is left`),
  ];
}

async function pay(user: User, world: World): Promise<void> {
  const answer = await user.askKeyed('checkout', '/v1/billing/checkout', { amountCents: 20_000 });
  const url = answer?.body['checkoutUrl'];
  if (typeof url !== 'string') throw new Error('nothing can be paid');
  world.processor.payPage(url, false);
}

async function rentOne(user: User): Promise<void> {
  // Loops that rest look once more before something happens that is planned.
  await sleep(MINUTE_MS);
  const wish = { familyId: 'rtx-4090', gpuCount: 1, maxPricePerHourCents: 100 };
  const answer = await user.askKeyed('create', '/v1/rentals', wish);
  noteRental(user, answer, { wish, acceptedCents: wish.maxPricePerHourCents });
}
