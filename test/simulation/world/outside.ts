import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { currentScope } from '../kernel/scope.js';

/** What may go wrong with calls of the outside, per thousand of them. */
export interface CallFaults {
  /** The request never arrives. */
  lostRequest: number;
  /** It takes effect, and its answer never comes back. */
  lostAnswer: number;
  /** The answer comes later than most callers wait. */
  late: number;
}

/** A call of which no answer came. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

/** How long a caller waits for an answer that never comes, in milliseconds, and an answer that comes late. */
const GIVES_UP_MS = 5_000;
const LATE_MS = 8_000;

/** Calls that change nothing at their peer, beside those by GET. */
const looks: ReadonlySet<string> = new Set([
  ...['ssh', 'pods', 'offers', 'find', 'changes', 'balance', 'list', 'describe', 'history', 'look'],
]);

/** The way to everything outside of the service: each call takes time and may be lost. */
export class Outside {
  readonly counts = { calls: 0, lost: 0, late: 0 };
  faults: Readonly<Record<string, CallFaults>> = {};

  constructor(
    readonly kernel: Kernel,
    readonly chance: Chance,
  ) {}

  /**
   * Asks a peer.
   * @param effect happens there once, between the request and its answer; it may throw, which is an answer
   * @throws NoAnswer when the request or the answer is lost
   */
  call<T>(peer: string, name: string, effect: () => T): Promise<T> {
    this.counts.calls += 1;
    const { chance, kernel } = this;
    const faults = this.faults[peer];
    const isLostThere = faults !== undefined && chance.perMille(faults.lostRequest);
    const isLostBack = faults !== undefined && chance.perMille(faults.lostAnswer);
    const isLate = faults !== undefined && chance.perMille(faults.late);
    if (isLostThere || isLostBack) this.counts.lost += 1;
    if (isLate) this.counts.late += 1;
    const thereMs = 1 + chance.below(40);
    const backMs = isLate ? chance.below(LATE_MS) : 1 + chance.below(40);
    const scope = currentScope();
    return new Promise<T>((resolve, reject) => {
      const giveUp = (): void => {
        kernel.after(
          GIVES_UP_MS,
          `${peer} ${name} is silent`,
          () => reject(new NoAnswer(`${peer} did not answer`)),
          {
            scope,
          },
        );
      };
      if (isLostThere) {
        giveUp();
        return;
      }
      // What the peer does, it does even when the caller crashes meanwhile.
      kernel.after(
        thereMs,
        `${peer} ${name}`,
        () => {
          const answer = outcomeOf(effect);
          if (isLostBack) {
            kernel.after(0, '', giveUp, { scope });
            return;
          }
          kernel.after(backMs, `${peer} ${name} answers`, () => settle(answer, resolve, reject), { scope });
        },
        {
          scope: scope.loop === undefined ? {} : { loop: scope.loop },
          isSilent: looks.has(name) || name.startsWith('GET '),
        },
      );
    });
  }

  /** Waits until a peer tells something. */
  until(name: string, listen: (tell: () => void) => () => void): Promise<void> {
    const scope = currentScope();
    return new Promise((resolve) => {
      const stop = listen(() => {
        stop();
        this.kernel.after(1 + this.chance.below(20), `told of ${name}`, () => resolve(), { scope });
      });
    });
  }
}

type Outcome<T> = { readonly value: T } | { readonly error: Error };

function outcomeOf<T>(effect: () => T): Outcome<T> {
  try {
    return { value: effect() };
  } catch (error) {
    return { error: error as Error };
  }
}

function settle<T>(outcome: Outcome<T>, resolve: (value: T) => void, reject: (error: Error) => void): void {
  if ('value' in outcome) resolve(outcome.value);
  else reject(outcome.error);
}
