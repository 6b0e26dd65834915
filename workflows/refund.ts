import { continueAsNew } from '@temporalio/workflow';
import { steps } from './activity-proxies.js';
import type { EventInput } from './contracts/events.js';
import { followEvents } from './follow-events.js';

const HOUR = 3_600_000;
/**
 * When to ask the processor itself if no event came. A refund may wait for its bank for days, and a bank may send it
 * back after weeks, which comes as an event.
 */
const askAfterMs = [HOUR, 6 * HOUR, 24 * HOUR];

/** One refund at the processor; its id is the refund's. The wallet follows it (decision 30, "Reversed payments"). */
export async function refund(input: EventInput): Promise<{ outcome: string }> {
  const seen = await followEvents(() => steps.lookAtRefund(input.id), input.askAfterMs ?? askAfterMs);
  return seen === undefined ? continueAsNew<typeof refund>(input) : { outcome: seen.status };
}
