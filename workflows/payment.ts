import { continueAsNew } from '@temporalio/workflow';
import { steps } from './activity-proxies.js';
import type { EventInput } from './contracts/events.js';
import { followEvents } from './follow-events.js';

/** One payment that names a user of ours and none of their top-ups; its id is the payment's. */
export async function payment(input: EventInput): Promise<{ outcome: string }> {
  const seen = await followEvents(() => steps.lookAtPayment(input.id), input.askAfterMs ?? [HOUR]);
  return seen === undefined ? continueAsNew<typeof payment>(input) : { outcome: seen.status };
}

const HOUR = 3_600_000;
