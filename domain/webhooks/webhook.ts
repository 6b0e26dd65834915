import { growingPauseMs } from '../backoff.js';
import { DAY, HOUR } from '../durations.js';
import { eventTypes, withGaps, type EventType, type WhyOff } from '../events/events.js';
import { webhookLimits } from './limits.js';

/** pending: it has not answered its challenge yet. */
export const webhookStates = ['pending', 'enabled', 'switched_off'] as const;

/**
 * Tells whether an endpoint is challenged anew by an address that is set, be it the same: unless it is the one that is
 * enabled.
 * @param url undefined: none is set
 */
export function isChallengedBy(
  hook: { readonly url: string; readonly state: string },
  url: string | undefined,
): boolean {
  return url !== undefined && (url !== hook.url || hook.state !== 'enabled');
}

/** What became of one try. given_up: it failed, and was the last one. */
export const tryOutcomes = ['delivered', 'failed', 'given_up'] as const;

/** The types that an endpoint may name. A ping goes to the endpoint that it was asked for, whatever that names. */
export const namedTypes: readonly EventType[] = eventTypes.filter((type) => type !== 'webhook.ping');

/** What tells of sign-ins, passkeys and keys. */
const ofSignIns = /^(session|passkey|api_key)\./;

/** Types that an endpoint gets only if it names them. */
const onlyWhenNamed: readonly EventType[] = eventTypes.filter(
  (type) => ofSignIns.test(type) || type === 'webhook.ping',
);

/** Tells whether types that an endpoint names are among those by which its receiver follows sign-ins and keys. */
export function hearsOfSignIns(types: readonly string[]): boolean {
  return types.some((type) => ofSignIns.test(type));
}

/**
 * Which types an endpoint gets. Without named types it gets all others, those of a later release among them. A gap
 * concerns all of them.
 */
export function wantedTypes(types: readonly string[]): {
  only: readonly string[] | null;
  except: readonly string[];
} {
  return types.length === 0
    ? { only: null, except: onlyWhenNamed }
    : { only: withGaps(types), except: ['webhook.ping'] };
}

/** The id of an endpoint's workflow. */
export function webhookWorkflowId(webhookId: string): string {
  return `webhook:${webhookId}`;
}

/** Where an endpoint stands before a try. */
export interface Standing {
  /** Tries of this event, or of the challenge, and since when; those in the retry line go on counting. */
  readonly tries: number;
  readonly triedSince: Date | null;
  /** Tries in a row that failed, of whatever event, and since when. */
  readonly failures: number;
  readonly failingSince: Date | null;
}

/** One try: in which line, its result, and when it ended. */
export interface Tried {
  readonly line: 'challenge' | 'events' | 'retries';
  readonly result: 'success' | 'failure' | 'gone';
  readonly at: Date;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * What follows from a try. later: the event goes to its retry line, or stays there. An instant is null where nothing
 * waits.
 */
export interface Verdict {
  readonly next: 'done' | 'again' | 'later' | 'give_up' | 'switch_off';
  readonly why: WhyOff | null;
  readonly tries: number;
  readonly triedSince: Date;
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Before these, nothing of the line of events is tried, nothing of the retry line, and not this event. */
  readonly lineAt: Date | null;
  readonly retriesAt: Date | null;
  readonly eventAt: Date | null;
}

/** Decides what follows from a try (decision 102, "Webhooks out"). */
export function judgeTry(standing: Standing, tried: Tried): Verdict {
  const at = tried.at;
  const tries = standing.tries + 1;
  const triedSince = standing.triedSince ?? at;
  const none = { why: null, tries, triedSince, lineAt: null, retriesAt: null, eventAt: null };
  if (tried.result === 'success') return { ...none, next: 'done', failures: 0, failingSince: null };
  const failures = standing.failures + 1;
  const failed = { ...none, failures, failingSince: standing.failingSince ?? at };
  const why = whyOff(failed, tried);
  if (why !== null) return { ...failed, next: 'switch_off', why };
  return { ...failed, ...nextOf(failed, tried) };
}

function whyOff(
  { failures, failingSince }: { readonly failures: number; readonly failingSince: Date },
  { line, result, at }: Tried,
): WhyOff | null {
  if (result === 'gone') return 'gone';
  if (failures < webhookLimits.failuresUntilOff || !isOver(failingSince, at)) return null;
  return line === 'challenge' ? 'challenge_unanswered' : 'no_success';
}

function nextOf(
  {
    tries,
    triedSince,
    failures,
  }: { readonly tries: number; readonly triedSince: Date; readonly failures: number },
  { line, at, random }: Tried,
): Pick<Verdict, 'next'> & Partial<Pick<Verdict, 'lineAt' | 'retriesAt' | 'eventAt'>> {
  const pausedUntil = later(at, linePauseMs(failures, random));
  const eventAt = later(at, retryPauseMs(tries - webhookLimits.triesInLine, random));
  if (line === 'retries') {
    // Events that are refused each time are no reason to hold up others, unless nothing goes through.
    const retriesAt = failures >= webhookLimits.triesInLine ? pausedUntil : null;
    return { next: isOver(triedSince, at) ? 'give_up' : 'later', eventAt, retriesAt };
  }
  const paused = { lineAt: pausedUntil, retriesAt: pausedUntil };
  const isLast = line === 'events' && tries >= webhookLimits.triesInLine;
  return isLast ? { ...paused, next: 'later', eventAt } : { ...paused, next: 'again' };
}

function isOver(since: Date, at: Date): boolean {
  return at.getTime() - since.getTime() >= webhookLimits.triedForMs;
}

/** The pause of an endpoint after so many failures in a row, in milliseconds. */
function linePauseMs(failures: number, random: number): number {
  const { linePauseMs: firstMs, linePauseMaxMs: mostMs } = webhookLimits;
  return growingPauseMs({ firstMs, mostMs }, failures - 1, random);
}

/** The pause of one event after so many tries in its retry line, in milliseconds. */
function retryPauseMs(tries: number, random: number): number {
  const { retryPauseMs: firstMs, retryPauseMaxMs: mostMs } = webhookLimits;
  return growingPauseMs({ firstMs, mostMs }, Math.max(tries, 0), random);
}

/**
 * The longest pauses that are believed, in milliseconds: of an endpoint, and of one event. One that ends later was set by a
 * clock that ran ahead and was set back since: it says nothing. They are several times as long as any that is set, and do not
 * follow the limits: while a release with higher ones is deployed, this one beside it must not wake what pauses by those.
 */
export const longestPausesMs = { line: HOUR, retry: DAY } as const;

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}
