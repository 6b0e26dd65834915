import { isCommit } from '../../adapters/postgres/acknowledged.js';
import type { Chance } from './kernel/chance.js';
import type { SimProcess } from './kernel/scope.js';
import type { Kernel } from './kernel/kernel.js';
import type { Break, StatementFaults } from './kernel/statement-faults.js';
import type { Statements } from './kernel/statements.js';
import type { Service } from './service.js';
import type { SimulatedServer } from './temporal/server.js';
import { willing } from './world/bank.js';
import { willingCards } from './world/returns.js';
import { honest } from './world/upstream.js';
import { punctual, type World } from './world/world.js';

/** The most statements until a strike that was drawn comes: those of its process, or of its duty. */
const STRIKE_WITHIN = 60;
/** How long a process may stand still, in milliseconds. */
const FREEZE_MAX_MS = 30_000;
/** How long a duty may be slow, and each of its statements then, in milliseconds. */
const SLOW_MAX_MS = 3 * 60_000;
const SLOW_STATEMENT_MS = 2_000;
/** What moves money and machines within few statements: half of the aims go there. */
const delicate = [
  'openRental',
  'startMetering',
  'settleRental',
  'endPods',
  'openTopup',
  'lookAtTopup',
  'lookAtDispute',
  'lookAtClosing',
];

/** The longest time for which the database is away, and any other peer, in milliseconds. */
const DATABASE_AWAY_MS = 3 * 60_000;
const PEER_AWAY_MS = 5 * 60_000;
/** How many workers stand side by side at most. */
const WORKERS_MAX = 2;
/** How far the clock of a process may be off, in milliseconds: the database's alone counts for money. */
const CLOCK_OFF_MS = 2 * 60_000;
const peers = ['temporal', 'processor', 'north', 'south', 'mail', 'machines'] as const;
/**
 * What the server says of a statement that it does not do: no serialization, a deadlock, a statement's time limit, a full
 * disk, memory, a standby after a failover, and its own shutdown.
 */
const states = ['40001', '40P01', '57014', '53100', '53200', '25006', '57P01'] as const;

const breaks: readonly Break[] = [
  { when: 'before', isSilent: false },
  { when: 'after', isSilent: false },
  { when: 'before', isSilent: true },
  { when: 'after', isSilent: true },
];

/** Where a process is struck: at a statement of its own, or of whoever does a duty. */
interface Armed {
  /** Absent: any. */
  readonly process?: SimProcess;
  /** Absent: any. */
  readonly duty?: string;
  /** The commits alone count. */
  readonly isCommit?: boolean;
  /** So many statements are left until then. */
  left: number;
  readonly how: 'before' | 'after' | 'freeze';
}

/** Disturbs the service by the seed, until it is told to stop. */
export class Chaos implements StatementFaults {
  readonly counts = { disturbances: 0, freezes: 0, slowdowns: 0 };
  #isOver = false;
  /** Until when the database is away, in milliseconds since 1970. */
  #awayUntilMs = 0;
  #armed: Armed | undefined;
  /** A duty whose statements take long, until then. */
  #slow: { readonly duty: string; readonly untilMs: number } | undefined;
  /** The activities and requests that were seen to ask the database. */
  readonly #duties = new Set<string>();

  constructor(
    private readonly parts: {
      readonly kernel: Kernel;
      readonly chance: Chance;
      readonly statements: Statements;
      readonly service: Service;
      readonly server: SimulatedServer;
      readonly world: World;
      /** The mean pause between two disturbances, in milliseconds. */
      readonly paceMs: number;
      /** The duty at which strikes are aimed; undefined: any. */
      readonly aim: string | undefined;
      /** Returns the stream of a disturbance, counted from 1; undefined: it is left out. */
      readonly disturbance: (no: number) => Chance | undefined;
    },
  ) {}

  begin(): void {
    const { world, statements } = this.parts;
    statements.faults = this;
    const calls = { lostRequest: 4, lostAnswer: 4, late: 10 };
    world.outside.faults = {
      temporal: { lostRequest: 2, lostAnswer: 2, late: 3 },
      ...{ processor: calls, north: calls, south: calls, mail: calls, machines: calls },
    };
    for (const upstream of world.upstreams) {
      upstream.faults = {
        ...{ neverBoots: 30, isLost: 120, vanishes: 300, noCapacity: 60, isDearer: 40, isListedLate: 60 },
        ...{ isStubborn: 30, rateLimited: 4, failsToEnd: 60, listsTwice: 10 },
        ...{ failsWithMachine: 60, neverPulls: 60 },
      };
    }
    world.eventFaults = { lost: 50, doubled: 100, delayed: 100, veryLate: 30, forged: 150 };
    world.processor.bank.faults = { declines: 150, wantsCustomer: 60, asksCustomer: 150, ponders: 100 };
    const fates = { refunds: 200, disputes: 200, warnings: 80 };
    world.processor.reversals.fates = { ...fates, pauseMs: 2 * this.parts.paceMs };
    const refusals = { refusedForNow: 100, refusedForGood: 80 };
    world.processor.returns.faults = {
      ...{ late: 150, ...refusals, bounces: 250, unknown: 300, pauseMs: this.parts.paceMs },
    };
    this.#next();
  }

  /** Ends all faults. What they have left must mend itself. */
  end(): void {
    const { world, statements } = this.parts;
    this.#isOver = true;
    statements.faults = undefined;
    world.outside.faults = {};
    for (const process of this.parts.service.processes) process.aheadMs = 0;
    for (const upstream of world.upstreams) Object.assign(upstream, { faults: honest, isUnpaid: false });
    world.eventFaults = punctual;
    world.processor.reversals.end();
    world.processor.returns.faults = willingCards;
    world.processor.bank.faults = willing;
  }

  slowMs(duty: string | undefined): number {
    const { chance, kernel } = this.parts;
    if (this.#slow !== undefined && this.#slow.duty === duty && kernel.nowMs < this.#slow.untilMs)
      return chance.below(SLOW_STATEMENT_MS);
    return chance.perMille(30) ? chance.below(400) : 0;
  }

  breaks(): Break | undefined {
    return this.#isAway ? { when: 'before', isSilent: false } : breaks[this.parts.chance.below(6_000)];
  }

  refuses(sql: string): string | undefined {
    const { chance } = this.parts;
    if (/^\s*(begin|rollback)/i.test(sql) || chance.below(3_000) > 0) return undefined;
    return chance.pick(states);
  }

  unconnected(): Error | undefined {
    if (this.#isAway) return Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    if (!this.parts.chance.perMille(5)) return undefined;
    return Object.assign(new Error('sorry, too many clients already'), { code: '53300' });
  }

  get #isAway(): boolean {
    return this.parts.kernel.nowMs < this.#awayUntilMs;
  }

  strikesAt(process: SimProcess, duty: string, sql: string): 'before' | 'after' | undefined {
    this.#duties.add(duty);
    const armed = this.#armed;
    if (armed === undefined || (armed.process ?? process) !== process || (armed.duty ?? duty) !== duty)
      return undefined;
    if (armed.isCommit === true && !isCommit(sql)) return undefined;
    armed.left -= 1;
    if (armed.left > 0) return undefined;
    if (armed.how !== 'freeze') return armed.how;
    this.#armed = undefined;
    this.#freeze(process);
    return undefined;
  }

  async crash(process: SimProcess): Promise<void> {
    this.#armed = undefined;
    await this.parts.service.crash(process);
  }

  #next(): void {
    const { kernel, chance } = this.parts;
    kernel.after(
      chance.pauseMs(this.parts.paceMs),
      'chaos',
      async () => {
        if (this.#isOver) return;
        this.counts.disturbances += 1;
        const own = this.parts.disturbance(this.counts.disturbances);
        if (own !== undefined) await this.#disturb(own);
        this.#next();
      },
      { scope: {} },
    );
  }

  /** Lets a whole peer be away for a while, or our account at an upstream be empty. */
  #loseA(peer: (typeof peers)[number], chance: Chance): void {
    const { kernel, world } = this.parts;
    const upstream = world.upstreams.find(({ code }) => code === peer);
    if (upstream !== undefined && chance.perMille(500)) {
      upstream.isUnpaid = true;
      kernel.trace.line(kernel.nowMs, `the account at ${peer} is empty`);
      const pay = (): void => void (upstream.isUnpaid = false);
      kernel.after(chance.below(PEER_AWAY_MS), `the account at ${peer} is paid`, pay, { scope: {} });
      return;
    }
    const usual = world.outside.faults[peer];
    if (usual === undefined || usual.lostRequest === 1_000) return;
    const away = { lostRequest: 1_000, lostAnswer: 0, late: 0 };
    world.outside.faults = { ...world.outside.faults, [peer]: away };
    kernel.trace.line(kernel.nowMs, `${peer} is away`);
    const back = (): void => {
      if (!this.#isOver) world.outside.faults = { ...world.outside.faults, [peer]: usual };
    };
    kernel.after(chance.below(PEER_AWAY_MS), `${peer} is back`, back, { scope: {} });
  }

  async #disturb(chance: Chance): Promise<void> {
    const { service, server } = this.parts;
    const { processes } = service;
    const drawn = chance.below(16);
    if (drawn === 10) server.tasks.overlapOne();
    else if (drawn >= 4 && drawn <= 6) this.#loseSomething(drawn === 4, chance);
    else if (drawn === 7) for (const process of processes) await service.crash(process);
    else if (drawn === 8) this.#addWorker();
    else if (drawn > 10) this.#aim(chance);
    else if (processes.length > 0) await this.#strike(drawn, processes, chance);
  }

  /** Crashes a process now or within its next statements, or moves its clock. */
  async #strike(drawn: number, processes: readonly SimProcess[], chance: Chance): Promise<void> {
    const { service, kernel } = this.parts;
    if (drawn === 0) return service.crash(chance.pick(processes));
    if (drawn === 9) {
      chance.pick(processes).aheadMs = chance.between(-CLOCK_OFF_MS, CLOCK_OFF_MS);
      kernel.trace.line(kernel.nowMs, 'a clock jumps');
      return;
    }
    const how = chance.pick(['before', 'after'] as const);
    this.#armed = { process: chance.pick(processes), left: 1 + chance.below(STRIKE_WITHIN), how };
  }

  /** Aims at one duty of all that were seen: rare ones are struck as often as loops that ask all day. */
  #aim(chance: Chance): void {
    const duty = this.parts.aim ?? chance.pick(chance.perMille(500) ? delicate : [...this.#duties]);
    const isCommit = chance.perMille(400);
    const how = isCommit ? 'after' : chance.pick(['before', 'after', 'freeze', 'slow'] as const);
    // A statement is counted before and after it.
    const left = isCommit ? 2 * (1 + chance.below(2)) : 1 + chance.below(STRIKE_WITHIN);
    if (how === 'slow') this.#slowDown(duty, chance.below(SLOW_MAX_MS));
    else this.#armed = { duty, isCommit, left, how };
  }

  /** Lets a duty's statements take long, so that its transactions overlap those of others. */
  #slowDown(duty: string, ms: number): void {
    const { kernel } = this.parts;
    this.counts.slowdowns += 1;
    kernel.trace.line(kernel.nowMs, `${duty} is slow for ${ms} ms`);
    this.#slow = { duty, untilMs: kernel.nowMs + ms };
  }

  #freeze(process: SimProcess): void {
    const { statements, server, chance, kernel } = this.parts;
    const ms = chance.between(1_000, FREEZE_MAX_MS);
    this.counts.freezes += 1;
    kernel.trace.line(kernel.nowMs, `${process.name} stands still for ${ms} ms`);
    statements.freeze(process, ms);
    server.tasks.freeze(process, ms);
  }

  #loseSomething(isDatabase: boolean, chance: Chance): void {
    const { kernel } = this.parts;
    if (!isDatabase) {
      this.#loseA(chance.pick(peers), chance);
      return;
    }
    this.#awayUntilMs = kernel.nowMs + chance.below(DATABASE_AWAY_MS);
    kernel.trace.line(kernel.nowMs, 'the database is away');
  }

  #addWorker(): void {
    const { processes } = this.parts.service;
    const workers = processes.filter(({ kind }) => kind === 'worker');
    if (workers.length < WORKERS_MAX) void this.parts.service.startWorker();
  }
}
