import type { Rental } from '@gpu-rental/client';
import { IdleNotice } from './idle-notice.js';
import { UsageCard } from './usage-card.js';

interface UsageProps {
  readonly rental: Rental;
  /** Whether somebody asked how busy it is. */
  readonly isOpen: boolean;
}

/** That an idle machine stops soon, and how busy it was. */
export function Usage({ rental, isOpen }: UsageProps) {
  const stopsAt = rental.status === 'running' ? rental.idleGuard?.stopsAt : null;
  return (
    <>
      {typeof stopsAt === 'string' && <IdleNotice id={rental.id} stopsAt={stopsAt} />}
      {isOpen && <UsageCard rental={rental} />}
    </>
  );
}
