import { ago } from '../format/time.js';
import { useServiceNow } from './service-clock.js';

/**
 * How long ago something happened, by the service's clock, which wrote it down: “5 minutes ago”. It is never still to come.
 * @param at the instant, as ISO 8601 or in milliseconds
 */
export function useAgo(at: string | number, everyMs?: number): string {
  const happened = new Date(at);
  return ago(happened.toISOString(), Math.max(useServiceNow(everyMs), happened.getTime()));
}
