import { insertAttempt, moveAttempt, nameAttemptPod } from '../adapters/postgres/attempts.js';
import { noteProviderFailure, noteProviderSuccess } from '../adapters/postgres/provider-health.js';
import type { AllocationAttemptRow, ListingRow } from '../adapters/postgres/tables.js';
import { ProviderError, type AllocatedPod, type Pod, type Provider } from '../adapters/providers/provider.js';
import type { RentalId } from '../domain/ids.js';
import { limits } from '../domain/limits.js';
import type { ActivityDeps } from './deps.js';

export interface Order {
  readonly rentalId: RentalId;
  readonly listing: ListingRow;
  readonly templateId: string;
  readonly publicKeys: readonly string[];
  /** When the upstream itself shall end the pod unless told otherwise. */
  readonly endBy: Date | null;
  /** What an hour may cost at most. */
  readonly maxPricePerHourCents: number;
}

/**
 * What came of asking an upstream for a pod.
 * - bought: the pod exists, its attempt is open until the rental adopts it.
 * - unknown: a pod may exist under the attempt's tag.
 * - none: nothing was bought, or it was given back; the next offer may be tried.
 */
export type Purchase =
  | { readonly kind: 'bought'; readonly attempt: AllocationAttemptRow; readonly podId: string }
  | { readonly kind: 'unknown'; readonly attempt: AllocationAttemptRow }
  | { readonly kind: 'none' };

/** The upstreams that can start a machine from a template. */
export function providersFor(deps: Pick<ActivityDeps, 'providers'>, templateId: string): string[] {
  return [...deps.providers.values()]
    .filter(({ templates }) => (templates as ReadonlySet<string>).has(templateId))
    .map(({ code }) => code);
}

/** Asks the upstream of one listing for one pod: the attempt is on record before the call (decision 21). */
export async function buyPod(deps: ActivityDeps, order: Order): Promise<Purchase> {
  const provider = deps.providers.get(order.listing.provider_code);
  if (!provider) return { kind: 'none' };
  const attempt = await insertAttempt(deps.db, {
    rentalId: order.rentalId,
    deployment: deps.settings.deployment,
    providerCode: order.listing.provider_code,
    listingId: order.listing.id,
    offerId: order.listing.offer_id,
    pricePerHourCents: order.listing.price_per_hour_cents,
    endBy: provider.endBy ? order.endBy : null,
  });
  try {
    const pod = await provider.allocate({
      tag: attempt.tag,
      offerId: order.listing.offer_id,
      gpuCount: order.listing.gpu_count,
      templateId: order.templateId,
      maxPricePerHourCents: order.maxPricePerHourCents,
      publicKeys: order.publicKeys,
      endBy: order.endBy,
    });
    await noteProviderSuccess(deps.db, provider.code, 'creating');
    return await checkPrice(deps, provider, attempt, pod, order.maxPricePerHourCents);
  } catch (error) {
    return judgeFailure(deps, provider, order, attempt, error);
  }
}

/**
 * Finds out what an attempt whose answer was lost has bought, by its tag (decision 21).
 * @param lookMs how long to look for a pod that the upstream did not name
 */
export async function resolveAttempt(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  agreed: { readonly lookMs: number; readonly maxPricePerHourCents: number },
): Promise<Purchase> {
  const named = attempt.pod_id === null ? undefined : { podId: attempt.pod_id, pricePerHourCents: null };
  const pod = (await lookForTag(provider, attempt.tag, named ? 0 : agreed.lookMs)) ?? named;
  if (!pod) return { kind: 'unknown', attempt };
  return checkPrice(deps, provider, attempt, pod, agreed.maxPricePerHourCents);
}

/** A pod that is dearer than agreed is given back (decision 19). */
async function checkPrice(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  pod: AllocatedPod,
  maxPricePerHourCents: number,
): Promise<Purchase> {
  await nameAttemptPod(deps.db, attempt.id, pod.podId);
  if (pod.pricePerHourCents === null || pod.pricePerHourCents <= maxPricePerHourCents) {
    return { kind: 'bought', attempt, podId: pod.podId };
  }
  const error = `the pod costs ${pod.pricePerHourCents} cents an hour, agreed were ${maxPricePerHourCents}`;
  await condemn(deps, provider, attempt, pod.podId, error);
  return { kind: 'none' };
}

async function judgeFailure(
  deps: ActivityDeps,
  provider: Provider,
  order: Order,
  attempt: AllocationAttemptRow,
  error: unknown,
): Promise<Purchase> {
  if (!(error instanceof ProviderError)) throw error;
  deps.log.warn(
    { rentalId: attempt.rental_id, tag: attempt.tag, kind: error.kind, err: error },
    'allocation failed',
  );
  await noteProviderFailure(deps.db, provider.code, 'creating', error);
  if (error.kind !== 'unknown') {
    await moveAttempt(deps.db, attempt.id, 'open', 'failed', { error: `${error.kind}: ${error.message}` });
    return { kind: 'none' };
  }
  return resolveAttempt(
    deps,
    provider,
    { ...attempt, pod_id: error.details.podId ?? null },
    { lookMs: limits.unknownLookMs, maxPricePerHourCents: order.maxPricePerHourCents },
  );
}

/** Looks for the pod of a tag until it is found or the time is over. Lists lag, so one look proves nothing. */
async function lookForTag(provider: Provider, tag: string, forMs: number): Promise<Pod | undefined> {
  const deadline = performance.now() + forMs;
  for (;;) {
    try {
      const pod = await provider.find(tag);
      if (pod) return pod;
    } catch (error) {
      // The upstream does not answer: that says nothing about the pod.
      if (!(error instanceof ProviderError)) throw error;
    }
    if (performance.now() >= deadline) return undefined;
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, forMs)));
  }
}

/** Decides that an attempt's pod must end, and asks for it once; the sweeper asks until it is gone (decision 22). */
export async function condemn(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  podId: string | null,
  error: string,
): Promise<void> {
  if (!(await moveAttempt(deps.db, attempt.id, 'open', 'condemned', { error }))) return;
  if (podId === null) return;
  try {
    await provider.terminate(podId);
  } catch (failure) {
    deps.log.warn(
      { tag: attempt.tag, podId, err: failure },
      'could not end a condemned pod yet; the sweeper goes on',
    );
  }
}
