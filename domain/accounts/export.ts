import { SECOND } from '../durations.js';
import { Refusal } from '../refusal.js';
import { accountLimits } from './limits.js';

/** The refusal of an export beside another one of the same account. */
export function exportRunning(): Refusal {
  const retryAfterSeconds = accountLimits.exportLeaseMs / SECOND;
  return new Refusal(
    'export_running',
    `Your account is being exported already. Wait until that download ends, or cancel it and try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
