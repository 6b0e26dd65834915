import { continueAsNew } from '@temporalio/workflow';
import { steps } from './activity-proxies.js';
import type { EventInput } from './contracts/events.js';
import { followEvents } from './follow-events.js';

/**
 * One saved card; its id is the payment method's. The workflow saves the card when its setup succeeded, lets it replace
 * the one before, and detaches it at the processor once it is removed here. The row is the state.
 */
export async function card(input: EventInput): Promise<{ outcome: string }> {
  const seen = await followEvents(() => steps.lookAtCard(input.id), input.askAfterMs ?? [HOUR]);
  return seen === undefined ? continueAsNew<typeof card>(input) : { outcome: seen.status };
}

const HOUR = 3_600_000;
