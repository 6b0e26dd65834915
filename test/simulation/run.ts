import { Chaos } from './chaos.js';
import { Chance } from './kernel/chance.js';
import { real } from './kernel/real.js';
import type { Evidence } from './oracle/evidence.js';
import { Signer } from './nights.js';
import { passLastDay } from './last-day.js';
import { judge, judgeRestored } from './oracle/oracle.js';
import { judgeProof } from './oracle/proof.js';
import { collectReach } from './reach/collect.js';
import { edgesMissed } from './reach/edges.js';
import type { Reach } from './reach/reach.js';
import { setUp } from './set-up.js';
import { createClient } from './temporal/client.js';
import { Guest } from './users/guest.js';
import { leave, live } from './users/life.js';
import { leaveUnknown, payByCardAlone, spend } from './users/regulars.js';
import { Operator } from './users/operators.js';
import { Told } from './users/told.js';
import { User } from './users/user.js';
import { Without } from './without.js';

export interface RunOptions {
  readonly seed: number;
  readonly days: number;
  readonly users: number;
  /** About how many things each user does. */
  readonly acts: number;
  /** A migrated database of this run's own. */
  readonly databaseUrl: string;
  /** The same database as its server's administrator sees it. */
  readonly controlUrl: string;
  readonly traceFile: string | undefined;
  /** false: nothing is disturbed. */
  readonly isDisturbed: boolean;
  /** The activity or request at which strikes are aimed, such as openRental; default: any. */
  readonly aim?: string;
  /** What is left out of the run: see `Without`. */
  readonly without?: readonly string[];
}

export interface RunReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly hash: string;
  readonly lines: number;
  readonly realMs: number;
  readonly counts: Readonly<Record<string, number>>;
  /** The running time of all rentals, in milliseconds. */
  readonly rentalMs: number;
  readonly reach: Reach;
  /** What came up and could be left out. */
  readonly met: readonly string[];
  readonly errors: readonly string[];
  readonly last: readonly string[];
}

const DAY_MS = 24 * 3_600_000;
/** Sunday, long before anything expires by itself. */
const SUNDAY_MS = Date.parse('2031-03-02T00:00:00Z');
const MONTH_END_MS = Date.parse('2031-04-01T00:00:00Z');
/** During so many of a thousand runs a month ends. */
const MONTH_ENDS = 300;
/** In so many of a thousand runs a mailbox refuses what it is sent, for ever. */
const REFUSING = 300;
/** So many of a thousand users close their account in the midst of a run; all do where that is what is aimed at. */
const CLOSERS = 250;
/** How long nothing is disturbed before the verdict, in milliseconds. */
const CALM_MS = 2 * 3_600_000;

/** Draws when a run begins, in milliseconds since 1970: users live through a midnight, most of them before it and after it. */
function startOf(chance: Chance, days: number): number {
  const midnightMs = chance.perMille(MONTH_ENDS) ? MONTH_END_MS : SUNDAY_MS;
  const livedMs = Math.floor(days * DAY_MS);
  return midnightMs - chance.between(Math.floor(livedMs / 4), livedMs);
}

/** Runs one seed in this process, whose time and chance are the simulation's from now on. */
export async function runSeed(options: RunOptions): Promise<RunReport> {
  const begun = real.now();
  const { seed } = options;
  const chance = (name: string): Chance => new Chance(seed, name);
  const startMs = startOf(chance('start'), options.days);
  const { trace, kernel, statements, server, world, service, workflows } = await setUp(options, startMs);
  const paceMs = (options.days * DAY_MS) / options.acts;
  const without = new Without(options.without ?? []);
  const streamOf = (what: string): Chance | undefined => (without.does(what) ? chance(what) : undefined);
  const disturbance = (no: number): Chance | undefined => streamOf(`chaos.${no}`);
  const chaos = new Chaos({
    ...{ kernel, chance: chance('chaos'), statements, service, server, world, paceMs, disturbance },
    aim: options.aim,
  });
  const told = new Told();
  const untilMs = startMs + options.days * DAY_MS;
  const users = Array.from({ length: options.users }, (_, index) => {
    const name = `user${index + 1}@example.com`;
    const act = (no: number): Chance | undefined => streamOf(`user${index + 1}.${no}`);
    return new User(name, { kernel, chance: chance(name), act, service, world, told, untilMs, paceMs });
  });
  const failures: string[] = [];
  const failed = (error: unknown): void => void failures.push(`a user's script failed: ${String(error)}`);
  const closers = options.aim === 'lookAtClosing' ? 1_000 : CLOSERS;
  for (const user of users) void live(user, closers).catch(failed);
  const temporal = createClient(server, world.outside);
  const operator = new Operator({
    ...{ kernel, chance: chance('operator'), told, temporal, paceMs: 3 * paceMs },
    ...{ unknown: world.processor.returns.unknown, databaseUrl: options.databaseUrl },
  });
  void operator.live().catch(failed);
  void operator.decide(untilMs + CALM_MS).catch(failed);
  const signer = new Signer({ chance: chance('signer'), databaseUrl: options.databaseUrl });
  void signer.live();
  if (options.isDisturbed) {
    chaos.begin();
    if (chance('mailboxes').perMille(REFUSING)) world.refusing.add('user1@example.com');
    without.calm({ world, statements });
  }
  await kernel.run(untilMs);
  chaos.end();
  void operator.leave().catch(failed);
  for (const user of users) void leave(user).catch(failed);
  const calmSinceMs = kernel.nowMs;
  const quiet = { kernel, act: () => undefined, service, world, told, untilMs, paceMs };
  const quietUser = (name: string): User =>
    new User(`${name}@example.com`, { ...quiet, chance: chance(name) });
  void spend(quietUser('spender')).catch(failed);
  void payByCardAlone(quietUser('carded')).catch(failed);
  void leaveUnknown(quietUser('leaver')).catch(failed);
  await kernel.run(calmSinceMs + CALM_MS);
  const ask: Evidence['ask'] = (sql, values) => statements.ask(sql, values);
  const violations = await judge({
    ...{ told, world, machines: world.machines, calmSinceMs, nowMs: kernel.nowMs, ask },
    refused: statements.refused,
  });
  const { lost, goesOnMs, stoodStill } = await passLastDay({
    ...{ kernel, statements, service, signer, operator, guest: new Guest(quietUser('guest')), failed },
  });
  violations.push(
    ...(await judgeRestored(
      {
        ...{ told, world, machines: world.machines, calmSinceMs: goesOnMs, nowMs: kernel.nowMs },
        ...{ refused: statements.refused, ask, stoodStill },
      },
      lost,
    )),
    ...(await judgeProof({ ask, nights: signer.nights, roots: signer.end() })),
  );
  // A service that never begins breaks no rule.
  if (server.counts.runs === 0) failures.push('no workflow ever ran');
  const [ran] = await ask<{ ms: number }>(
    `select coalesce(sum(extract(epoch from coalesce(ended_at, clock_ms()) - running_at) * 1000), 0)::float8 as ms
     from rentals where running_at is not null`,
  );
  const seals = await ask('select 1 from ledger_seals');
  const reach = await collectReach({
    ...{ ask, noted: [...server.reached, ...server.tasks.reached], activities: server.tasks.activities },
    ...{ workflows: Object.keys(workflows), answers: [...told.reached.keys()], requests: [...service.asked] },
    points: { passed: [...statements.points.passed], hit: [...statements.points.hit] },
  });
  failures.push(...edgesMissed(reach));
  return {
    ...{ seed, violations: [...violations, ...failures], hash: trace.end(), lines: trace.lines },
    realMs: Math.round(real.now() - begun),
    counts: {
      ...{ ...kernel.counts, ...statements.counts, ...server.counts, ...service.counts, ...chaos.counts },
      ...{
        outsideCalls: world.outside.counts.calls,
        machines: world.machines.length,
        ...{ seals: seals.length, nights: signer.nights.length },
        ...{ payments: world.processor.truth.payments.length, lostEvents: world.lostEvents },
      },
    },
    ...{
      rentalMs: Math.round(ran?.ms ?? 0),
      reach,
      met: without.met,
      errors: service.errors.slice(-20),
      last: trace.last.slice(-60),
    },
  };
}
