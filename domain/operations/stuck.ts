import { growingPauseMs, withJitter } from '../backoff.js';
import { operationLimits } from './limits.js';

/**
 * The kinds of work with items (decision 69, "Items that fail"). An item of one of these that fails is counted, tried
 * ever more rarely, and set aside in the end; the others go on.
 */
export const duties = {
  workflow: 'a workflow that is told to look at its row, or whose look fails',
  run: 'a workflow whose task fails or times out again and again: it does nothing until it is replaced',
  step: 'a step of a rental',
  refund: 'a rental that an order of many refunds',
  warning: 'a warning of a low balance',
  notice: 'a user who is told of what they did not ask for',
  long_lived: 'a workflow that must always run',
  event: 'an event of the processor that is read from its own list',
  stray_pod: 'a machine that belongs to nobody and must end',
  blocked_pod: 'a machine whose wallet can not be metered and that must end',
  credential: 'what an upstream keeps for pulling an image and that must go',
  attempt: 'a purchase that a crash left open',
  end_date: 'the date at which an upstream itself ends a machine',
  budget: 'a user who is told how much of a budget is spent',
  statement: 'a wallet whose month is told by a statement',
  card_expiry: 'a user whose saved card has expired',
  mail: 'a mail',
  seal: 'a wallet whose ledger is sealed',
  upkeep: 'a part of the upkeep as a whole',
} as const;

export type Duty = keyof typeof duties;

/**
 * The pause before the next try of an item whose peer did not answer, in milliseconds: as long as it has failed so far,
 * up to a pause that is short for a user who has paid and waits.
 * @param random from 0 to 1
 */
export function nextUnansweredTryMs(failingMs: number, random: number): number {
  const growing = Math.max(operationLimits.retryBaseMs, failingMs);
  return withJitter(Math.min(growing, operationLimits.unansweredRetryMaxMs), random);
}

/** The longest pause before a try: that of an item that is set aside, in milliseconds. */
export const longestPauseMs = Math.ceil(operationLimits.setAsideRetryMs * 1.05);

/**
 * The pause before the next try after failed ones, in milliseconds: exponential with jitter, so that items that failed
 * together do not come back together.
 * @param random from 0 to 1
 */
export function nextTryMs(attempts: number, isSetAside: boolean, random: number): number {
  if (isSetAside) return Math.round(operationLimits.setAsideRetryMs * (0.95 + 0.1 * random));
  const { retryBaseMs: firstMs, retryMaxMs: mostMs } = operationLimits;
  return growingPauseMs({ firstMs, mostMs }, attempts - 1, random);
}
