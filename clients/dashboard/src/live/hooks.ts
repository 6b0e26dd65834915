import type { Balance, Event, EventType, LiveBalance } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { balanceQuery } from '../data/wallet.js';
import { runwaySeconds, type TimedMeter } from './interpolate.js';
import { liveStore, type Connection, type LiveState } from './store.js';

function useLive<T>(select: (state: LiveState) => T): T {
  return useSyncExternalStore(liveStore.watch, () => select(liveStore.read()));
}

/** How fresh what is shown is. */
export const useConnection = (): Connection => useLive(({ connection }) => connection);

/** Since when the connection is lost, by this computer's clock; undefined while it is live. */
export const useLostAt = (): number | undefined => useLive(({ lostAtMs }) => lostAtMs);

/** What the stream said last of a rental's cost; undefined where it said nothing, and while there is none. */
export const useLiveMeter = (rentalId: string): TimedMeter | undefined =>
  useLive(({ meters }) => meters[rentalId]);

/** The same of all rentals, by their ids. */
export const useLiveMeters = (): LiveState['meters'] => useLive(({ meters }) => meters);

/** The wallet as it is now, and of which instant that is. */
export interface CurrentBalance extends Omit<Balance, 'updatedAt'> {
  /** The newest entry of the ledger; undefined where the stream has not told it. */
  readonly ledgerSeq: number | undefined;
  readonly readAt: string;
  /** When it came, by this computer's clock. */
  readonly receivedAtMs: number;
}

/** The wallet: the newer of what the stream said and what was asked for; undefined before the first answer. */
export function useBalance(): CurrentBalance | undefined {
  const { data, dataUpdatedAt } = useQuery(balanceQuery);
  const live = useLive(({ balance }) => balance);
  const meters = useLiveMeters();
  if (data === undefined) return undefined;
  const { updatedAt, ...asked } = data;
  if (live === undefined || Date.parse(updatedAt) > Date.parse(live.readAt)) {
    return { ...asked, readAt: updatedAt, receivedAtMs: dataUpdatedAt, ledgerSeq: live?.ledgerSeq };
  }
  return { ...asked, ...live, runwaySeconds: runwayOf(live, meters) };
}

/** As the service counts it: holds are spent before what is available. */
function runwayOf(
  { availableCents, burnPerHourCents }: LiveBalance,
  meters: LiveState['meters'],
): number | null {
  const holds = Object.values(meters).filter(({ status }) => status === 'running');
  return runwaySeconds(
    holds.reduce((sum, { holdCents }) => sum + holdCents, availableCents),
    burnPerHourCents,
  );
}

/** Calls the listener for each event of the types, as long as the component stands. */
export function useEvents(types: readonly EventType[], listener: (event: Event) => void): void {
  const hear = useEffectEvent((event: Event) => {
    if (types.includes(event.type)) listener(event);
  });
  useEffect(() => liveStore.onEvent(hear), []);
}
