import { timeOfDay } from '../format/time.js';
import { useConnection, useLostAt } from '../live/hooks.js';
import { useNow } from '../live/now.js';
import { shellTexts } from '../texts/shell.js';

/** What is back sooner needs no note. */
const NOTED_AFTER_MS = 3_500;

/** Says that what is shown is not live, and of when it is. */
export function ConnectionNote() {
  const connection = useConnection();
  const lostAtMs = useLostAt();
  // The region stands there before it says something, or screen readers would not hear it.
  return (
    <div role="status" className="text-xs text-warn">
      {connection !== 'live' && lostAtMs !== undefined && (
        <Lost isPolling={connection === 'polling'} lostAtMs={lostAtMs} />
      )}
    </div>
  );
}

function Lost({ isPolling, lostAtMs }: { readonly isPolling: boolean; readonly lostAtMs: number }) {
  const isNoted = useNow() - lostAtMs > NOTED_AFTER_MS;
  const { reconnecting, polling, since } = shellTexts.connection;
  if (!isNoted) return null;
  if (isPolling) return <>{polling}</>;
  return (
    <span title={since(timeOfDay(new Date(lostAtMs).toISOString()))} className="flex items-center gap-1.5">
      <span aria-hidden="true" className="size-1.5 animate-pulse rounded-full bg-current" />
      {reconnecting}
    </span>
  );
}
