import { continueAsNew } from '@temporalio/workflow';
import { steps } from './activity-proxies.js';
import type { EventInput } from './contracts/events.js';
import { followEvents } from './follow-events.js';

const DAY = 24 * 3_600_000;

/**
 * One dispute, which takes banks months; its id is the dispute's. The wallet follows it (decision 30, "Reversed
 * payments").
 */
export async function dispute(input: EventInput): Promise<{ outcome: string }> {
  const seen = await followEvents(() => steps.lookAtDispute(input.id), input.askAfterMs ?? [DAY]);
  return seen === undefined ? continueAsNew<typeof dispute>(input) : { outcome: seen.status };
}
