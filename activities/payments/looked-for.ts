import { paymentLimits } from '../../domain/payments/limits.js';

/**
 * The instant, by the processor's clock, from which on to look for what was sent at an instant by ours. What is not found
 * counts as never sent, so it is early enough for a clock of ours that ran ahead then.
 */
export function lookedForFrom(sentAt: Date): Date {
  return new Date(Math.min(sentAt.getTime(), Date.now()) - paymentLimits.lookBackMs);
}
