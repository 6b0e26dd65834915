import { paymentLimits } from '../../domain/payments/limits.js';

/**
 * The instant, by the processor's clock, from which on to look for what was sent at an instant by ours. What is not found
 * counts as never sent, so it is early enough for a clock of ours that ran ahead then, by however much where it still lies
 * ahead.
 */
export function lookedForFrom(sentAt: Date): Date {
  const now = Date.now();
  const isAhead = sentAt.getTime() > now;
  return new Date(isAhead ? now - paymentLimits.lookFarBackMs : sentAt.getTime() - paymentLimits.lookBackMs);
}
