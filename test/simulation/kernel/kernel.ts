import type { Chance } from './chance.js';
import type { Loop } from './loop.js';
import { nextTurn } from './real.js';
import { currentScope, within, type Scope, type SimProcess } from './scope.js';
import type { Trace } from './trace.js';

/** Something that happens at an instant of simulated time. */
export interface Entry {
  /** Milliseconds since 1970. */
  at: number;
  readonly no: number;
  readonly label: string;
  readonly scope: Scope;
  /** A weak entry happens when time has passed it, but never makes time pass. */
  readonly isWeak: boolean;
  /** A silent entry only looks: nothing that loops could find comes of it. */
  readonly isSilent: boolean;
  readonly run: () => void | Promise<void>;
}

interface RestingLoop {
  readonly loop: Loop;
  readonly nominal: number;
  readonly periodMs: number;
  readonly restUntil: number;
  /** The count of happenings when the rest began: a loop may have several lines, each with a rest of its own. */
  readonly seen: number;
  readonly process: SimProcess | undefined;
  readonly resume: () => void;
}

/** The longest rest of a loop in milliseconds: the length of its activity. */
const REST_MAX_MS = 3 * 3_600_000;
/** By how much each further rest of a calm loop is longer. */
const REST_GROWTH = 16;
/** So many turns of the event loop without any move show that everything waits. */
const QUIET_TURNS = 3;

/**
 * Lets one thing happen at a time: whatever may happen now is picked by the seed, and when nothing may, the clock jumps
 * to the next instant. Between two picks all code of the service runs until it waits.
 */
export class Kernel {
  nowMs: number;
  readonly startMs: number;
  /** Looks whether a condition has come true; answers whether it has moved something. */
  onQuiet: () => boolean = () => false;
  readonly counts = { entries: 0, jumps: 0, rounds: 0 };
  #entries: Entry[] = [];
  #resting: RestingLoop[] = [];
  #no = 0;
  #moves = 0;
  #happenings = 0;
  #real = 0;
  #realEnded: (() => void) | undefined;

  constructor(
    private readonly chance: Chance,
    readonly trace: Trace,
    startMs: number,
  ) {
    this.nowMs = startMs;
    this.startMs = startMs;
  }

  /** Notes that something moved: the event loop is not quiet yet. */
  moved(): void {
    this.#moves += 1;
  }

  /** Notes that something has changed that loops may find. */
  happened(): void {
    this.#happenings += 1;
  }

  /** How often something has happened that loops may find. */
  get happenings(): number {
    return this.#happenings;
  }

  /** Adds something that happens after a time in milliseconds. */
  after(
    ms: number,
    label: string,
    run: Entry['run'],
    options: { scope?: Scope; isWeak?: boolean; isSilent?: boolean } = {},
  ): Entry {
    this.#no += 1;
    this.moved();
    const { scope = currentScope() } = options;
    const at = Math.max(this.nowMs + Math.max(0, Math.ceil(ms)), scope.process?.frozenUntilMs ?? 0);
    const entry: Entry = {
      ...{ at, no: this.#no, label, run, scope, isWeak: options.isWeak ?? false },
      isSilent: options.isSilent ?? false,
    };
    // A peer may answer whoever has crashed meanwhile: nobody hears it.
    if (scope.process?.isAlive !== false) this.#entries.push(entry);
    return entry;
  }

  /** Takes an entry away; does nothing for one that has happened. */
  cancel(entry: Entry | undefined): void {
    if (entry === undefined) return;
    const index = this.#entries.indexOf(entry);
    if (index >= 0) this.#entries.splice(index, 1);
  }

  /** Lets a loop rest until its next round that can find something. */
  rest(loop: Loop, pauseMs: number, resume: () => void): void {
    this.moved();
    const { process } = currentScope();
    if (process?.isAlive === false) return;
    const periodMs = Math.max(1, Math.ceil(pauseMs));
    // A round that asks for the next one at once has more to do: it says nothing of whether there is calm.
    const isAtOnce = periodMs === 1;
    const isCalm = loop.seen === this.#happenings;
    if (!isAtOnce) loop.calm = isCalm ? loop.calm + 1 : 0;
    loop.seen = this.#happenings;
    loop.isResting = true;
    const growth = isAtOnce ? 1 : REST_GROWTH ** Math.min(loop.calm, 12);
    const restMs = Math.min(REST_MAX_MS, periodMs * growth);
    this.#resting.push({
      ...{ loop, periodMs, resume, process, seen: loop.seen },
      ...{ nominal: this.nowMs + periodMs, restUntil: this.nowMs + restMs },
    });
  }

  /** Counts work of the real world that is under way, such as a statement: nothing else happens meanwhile. */
  async reallyDoing<T>(work: Promise<T>): Promise<T> {
    this.#real += 1;
    this.moved();
    try {
      return await work;
    } finally {
      this.#real -= 1;
      this.moved();
      if (this.#real === 0) this.#realEnded?.();
    }
  }

  /** Lets a process stand still for some milliseconds, as a machine does that is moved or out of memory. */
  freeze(process: SimProcess, ms: number): void {
    const untilMs = this.nowMs + ms;
    process.frozenUntilMs = untilMs;
    for (const entry of this.#entries) {
      if (entry.scope.process === process) entry.at = Math.max(entry.at, untilMs);
    }
  }

  /** Forgets what a process that has crashed would have done. */
  forget(process: SimProcess): void {
    this.#entries = this.#entries.filter(({ scope }) => scope.process !== process);
    this.#resting = this.#resting.filter((resting) => resting.process !== process);
  }

  /** Lets things happen until an instant, or until `isOver`. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      await this.quiet();
      if (isOver()) return;
      const next = this.#nextInstant();
      if (next === undefined || next > untilMs) {
        this.nowMs = untilMs;
        return;
      }
      if (next > this.nowMs) {
        this.nowMs = next;
        this.counts.jumps += 1;
      }
      await this.#happen();
    }
  }

  /** Resolves when all code waits. */
  async quiet(): Promise<void> {
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      const before = this.#moves;
      await nextTurn();
      if (this.#real > 0) {
        await new Promise<void>((resolve) => (this.#realEnded = resolve));
        this.#realEnded = undefined;
      }
      if (this.#moves !== before) turns = -1;
      else if (turns === QUIET_TURNS - 1 && this.onQuiet()) turns = -1;
    }
  }

  async #happen(): Promise<void> {
    const outside = this.#strongInstant(isOutside);
    const ready: (Entry | RestingLoop)[] = [
      ...this.#entries.filter(({ at }) => at <= this.nowMs),
      ...this.#resting.filter((resting) => this.#instantOf(resting, outside) <= this.nowMs),
    ];
    const one = this.chance.pick(ready);
    this.counts.entries += 1;
    if ('resume' in one) {
      this.#resting.splice(this.#resting.indexOf(one), 1);
      this.counts.rounds += 1;
      this.trace.line(this.nowMs, `loop ${one.loop.name}`);
      one.loop.isResting = false;
      one.resume();
      return;
    }
    this.#entries.splice(this.#entries.indexOf(one), 1);
    // What a process does changes something only by what it writes (Statements) or asks of the outside.
    if (isOutside(one) && !one.isWeak) this.happened();
    if (one.label !== '') this.trace.line(this.nowMs, `${one.scope.process?.name ?? 'world'} ${one.label}`);
    await within(one.scope, one.run);
  }

  #nextInstant(): number | undefined {
    const outside = this.#strongInstant(isOutside);
    let next = this.#strongInstant(() => true);
    for (const resting of this.#resting) next = Math.min(next, this.#instantOf(resting, outside));
    if (next === Infinity) return undefined;
    return Math.max(next, this.nowMs);
  }

  /** The instant of what happens next beside the loops; Infinity: nothing does. */
  #strongInstant(counts: (entry: Entry) => boolean): number {
    let strong = Infinity;
    for (const entry of this.#entries) {
      if (entry.at < strong && !entry.isWeak && counts(entry)) strong = entry.at;
    }
    return strong;
  }

  /**
   * The instant of a loop's next round.
   * @param outside when something happens next that is no beat or wait of a process
   */
  #instantOf(resting: RestingLoop, outside: number): number {
    return Math.max(this.#instantOnGrid(resting, outside), resting.process?.frozenUntilMs ?? 0);
  }

  /** The same on the loop's own grid. */
  #instantOnGrid({ loop, nominal, periodMs, restUntil, seen }: RestingLoop, outside: number): number {
    if (seen !== this.#happenings) {
      const patientMs = Math.max(this.nowMs, nominal - periodMs + loop.patienceMs);
      return atOrAfter(patientMs, nominal, periodMs);
    }
    let wanted = restUntil;
    if (loop.dueMs !== undefined) wanted = Math.min(wanted, Math.max(loop.dueMs, this.nowMs));
    let instant = atOrAfter(wanted, nominal, periodMs);
    if (loop.isAhead && outside !== Infinity && outside > nominal) {
      const before = nominal + Math.floor((outside - 1 - nominal) / periodMs) * periodMs;
      if (before >= this.nowMs) instant = Math.min(instant, before);
    }
    return instant;
  }
}

/** The first instant of a loop's grid that is not before `ms`. */
function atOrAfter(ms: number, nominal: number, periodMs: number): number {
  return ms <= nominal ? nominal : nominal + Math.ceil((ms - nominal) / periodMs) * periodMs;
}

/** Whether an entry is of the world outside or of a workflow that is no loop: what it does can be found by loops. */
function isOutside({ scope, isSilent }: Entry): boolean {
  return scope.process === undefined && scope.loop === undefined && !isSilent;
}
