import { listPaidPods, recordEndBy } from '../../adapters/postgres/rentals/paid-until.js';
import { isDatabaseConfirmed } from '../../adapters/postgres/restore/watermark.js';
import { ProviderError, type Provider } from '../../adapters/providers/provider.js';
import { endByOf, mustRenew } from '../../domain/rentals/dead-mans-switch.js';
import { findStuck } from '../../adapters/postgres/upkeep/stuck-items.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';

/** The most renewals in one round, so that the lists do not wait for long. */
const RENEWED_AT_ONCE = 10;

/**
 * Renews the date at which the upstream itself ends each running machine, to the instant until which its wallet can pay
 * now. Only a date that is off by much is renewed. Machines whose upstream has no such switch are left alone. Those come
 * first that it would end too early, the soonest before the others: they are paid for.
 * @returns in how many milliseconds those that are left can be renewed; undefined when none are left
 * @throws ProviderError when the upstream does not answer; what was renewed stays
 */
export async function renewEnds(
  deps: Pick<ActivityDeps, 'db' | 'log'>,
  provider: Provider,
  onRenewed: () => void = () => undefined,
): Promise<number | undefined> {
  const { db } = deps;
  // A restored database knows too old a balance to date a machine's end by.
  if (!provider.endBy || !(await isDatabaseConfirmed(db))) return undefined;
  const pods = await listPaidPods(db, provider.code);
  const off = pods
    .map((pod) => ({ ...pod, wanted: endByOf(pod.fundsCents, pod.burnPerHourCents, pod.nowMs) }))
    .filter(({ endBy, wanted, nowMs }) => mustRenew(endBy, wanted, nowMs));
  const keyOf = ({ podId }: { podId: string }): string => `${provider.code}/${podId}`;
  const stuck = await findStuck(db, 'end_date', off.map(keyOf));
  // A pod that failed lately takes no place of another.
  const due = off.filter((pod) => stuck.get(keyOf(pod))?.isWaiting !== true);
  // The sort keeps the order of the dates.
  const items = due
    .toSorted((one, other) => Number(isTooEarly(other)) - Number(isTooEarly(one)))
    .slice(0, RENEWED_AT_ONCE);
  try {
    await eachItem(
      deps,
      { duty: 'end_date', items, keyOf, isOfAll, tell: onRenewed },
      ({ podId, attemptId, wanted }) => renewEnd(db, provider, { podId, attemptId, wanted }),
    );
  } catch (error) {
    // Our own budget lets no more of them be sent in this minute: until the next one all machines would be read in vain.
    if (error instanceof ProviderError && error.details.outOfTurn === true)
      return error.details.retryAfterMs ?? 0;
    throw error;
  }
  return due.length > items.length ? 0 : undefined;
}

function isTooEarly({ endBy, wanted }: { endBy: Date | null; wanted: Date }): boolean {
  return endBy !== null && endBy < wanted;
}

/** Tells whether a failure is of all machines: the upstream refuses our key, or asks to be left alone. */
function isOfAll(error: unknown): Promise<boolean> {
  const isItsOwn = error instanceof ProviderError && error.details.status !== undefined;
  const { status } = isItsOwn ? error.details : {};
  return Promise.resolve(
    error instanceof ProviderError && (status === undefined || [401, 403, 429].includes(status)),
  );
}

async function renewEnd(
  db: ActivityDeps['db'],
  provider: Provider,
  { podId, attemptId, wanted }: { podId: string; attemptId: number; wanted: Date },
): Promise<void> {
  try {
    await provider.endBy?.(podId, wanted);
  } catch (error) {
    // A pod that is gone by now has no date; the next list tells that it is gone.
    if (error instanceof ProviderError && error.details.status === 404) return;
    throw error;
  }
  await recordEndBy(db, attemptId, wanted);
}
