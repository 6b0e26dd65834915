import { continueAsNew } from '@temporalio/workflow';
import { autoCharging } from './activity-proxies.js';
import type { AutoTopupInput } from './contracts/auto-topup.js';
import { followEvents } from './follow-events.js';

/**
 * The auto-topup of one user: `auto-topup:<user>`. The tick tells it that the balance fell below the threshold, or that
 * the settings changed. It charges the saved card, waits for the cooldown, looks again, and ends when there is nothing
 * to do. The rows are the state: level, cooldown and the open attempt.
 */
export async function autoTopup(input: AutoTopupInput): Promise<{ outcome: string }> {
  const seen = await followEvents(
    () => autoCharging.lookAtAutoTopup(input.userId),
    input.askAfterMs ?? [10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE],
  );
  return seen === undefined ? continueAsNew<typeof autoTopup>(input) : { outcome: seen.status };
}

const MINUTE = 60_000;
