import {
  insertAttempt,
  moveAttempt,
  recordAttemptPod,
  type FailedBy,
  type NewAttempt,
} from '../../adapters/postgres/machines/attempts.js';
import { countQueued, endOutOfTurn } from '../../adapters/postgres/machines/queued-attempts.js';
import { noteProviderFailure, noteProviderSuccess } from '../../adapters/postgres/catalog/provider-health.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import {
  ProviderError,
  type AllocatedPod,
  type Pod,
  type Provider,
  type Wait,
} from '../../adapters/providers/provider.js';
import { notebookTokenOf } from '../../adapters/notebook-token.js';
import { openSoftware } from '../../adapters/postgres/rentals/software.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { misfitsOfWish, type JudgedWish } from '../../domain/rentals/misfits.js';
import { isNotebook } from '../../domain/rentals/notebook.js';
import { holdsSecrets, type Software, type SoftwareOutline } from '../../domain/rentals/software.js';
import { provisionDeadlineMs } from '../../domain/rentals/provisioning.js';
import type { PodOrder, Purchase } from '../../money/rentals/purchase.js';
import type { ActivityDeps } from '../deps.js';
import { layDownBundle } from './machine-bundle.js';
import { reporterTargetOf, reportTargetOf } from './machine-report.js';

/** The terms that a found pod is compared with. */
interface Agreed extends Wait {
  /** How long to look for a pod that the upstream did not name, or for its price, in milliseconds. */
  readonly lookMs: number;
  readonly maxPricePerHourCents: number;
  /** The disk that was asked for; absent or null: what the upstream gives by itself. */
  readonly diskGb?: number | null;
  readonly onOutOfTurn?: ((waitMs: number) => Promise<void>) | undefined;
}

/** Returns what a worker can start at an upstream: a notebook needs a key for its token. */
export function startableAt(
  { templates }: Pick<Provider, 'templates'>,
  { installationKey }: Pick<ActivityDeps['settings'], 'installationKey'>,
): ReadonlySet<string> {
  return new Set([...templates].filter((id) => !isNotebook(id) || Boolean(installationKey)));
}

/** Returns the upstreams that can start a machine from the template, with all of the renter's own software and SSH keys, tell its use and guard it. */
export function providersFor(deps: Pick<ActivityDeps, 'providers' | 'settings'>, wish: JudgedWish): string[] {
  return [...deps.providers.values()]
    .filter((provider) => startableAt(provider, deps.settings).has(wish.templateId))
    .filter((provider) => misfitsOfWish(wish, provider).length === 0)
    .map(({ code }) => code);
}

/**
 * Asks the upstream of one listing for one pod. The attempt is on record before the call (decision 21, "Lost upstream
 * answers").
 */
export async function buyPod(deps: ActivityDeps, order: PodOrder): Promise<Purchase> {
  const provider = deps.providers.get(order.listing.provider_code);
  if (!provider) return { kind: 'none' };
  const { createEveryMs } = provider;
  if (createEveryMs !== undefined && (await countQueued(deps.db, provider.code)) > 0) {
    return { kind: 'none', outOfTurnMs: createEveryMs };
  }
  const software = await openedSoftware(deps, order.software);
  const attempt = await insertAttempt(deps.db, attemptOf(deps, provider, order));
  return placeOrder(deps, provider, attempt, { ...order, software });
}

/**
 * Opens a renter's own software for its order. Call it before the purchase is on record as asked for: its failure must
 * not look like a lost answer.
 */
export async function openedSoftware(
  deps: ActivityDeps,
  outline: SoftwareOutline | null | undefined,
): Promise<Software | undefined> {
  return outline ? openSoftware(deps.db, outline, deps.webhooks.openSecret) : undefined;
}

/**
 * Puts an order into the queue of an upstream that sells one machine at a time (decision 158, "Machines in turn").
 * @returns undefined when its turn would come too late
 */
export async function queuePod(
  deps: ActivityDeps,
  order: PodOrder,
): Promise<Extract<Purchase, { kind: 'unknown' }> | undefined> {
  const provider = deps.providers.get(order.listing.provider_code);
  if (provider?.createEveryMs === undefined) return undefined;
  const launchAfterMs = ((await countQueued(deps.db, provider.code)) + 1) * provider.createEveryMs;
  if (launchAfterMs > rentalLimits.queueMs) return undefined;
  const attempt = await insertAttempt(deps.db, { ...attemptOf(deps, provider, order), launchAfterMs });
  return { kind: 'unknown', attempt, listed: false };
}

function attemptOf(deps: ActivityDeps, provider: Provider, order: PodOrder): NewAttempt {
  return {
    rentalId: order.rentalId,
    deployment: deps.settings.deployment,
    providerCode: order.listing.provider_code,
    listingId: order.listing.id,
    offerId: order.listing.offer_id,
    pricePerHourCents: order.listing.price_per_hour_cents,
    endBy: provider.endBy ? order.endBy : null,
    deadlineMs: provisionDeadlineMs(provider.provisionDeadlineMs, order.listing.max_boot_ms),
  };
}

/**
 * Asks an upstream for the machine of an attempt that is on record.
 * @param onOutOfTurn what becomes of the attempt when others had their turn; by default it has failed
 */
export async function placeOrder(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  order: Omit<PodOrder, 'rentalId' | 'software'> & { readonly software: Software | undefined },
  onOutOfTurn?: (waitMs: number) => Promise<void>,
): Promise<Purchase> {
  const { software } = order;
  const agreed = { ...order, diskGb: software?.diskGb ?? null, lookMs: rentalLimits.unknownLookMs };
  const notebookToken = tokenFor(deps, order, attempt);
  const bootstrap = await layDownBundle(deps, provider, attempt, software);
  const report = await reportTargetOf(deps, provider, attempt);
  const reporter = order.telemetry ? await reporterTargetOf(deps, provider, attempt) : undefined;
  let pod: AllocatedPod;
  try {
    pod = await provider.allocate({
      tag: attempt.tag,
      offerId: order.listing.offer_id,
      gpuCount: order.listing.gpu_count,
      templateId: order.templateId,
      software,
      bootstrap,
      report,
      reporter,
      notebookToken,
      maxPricePerHourCents: order.maxPricePerHourCents,
      publicKeys: order.publicKeys,
      endBy: order.endBy,
      untilMs: order.untilMs,
    });
  } catch (error) {
    const told = heldSecrets(software, notebookToken) ? withoutWords(error) : error;
    return judgeFailure(deps, provider, attempt, { ...agreed, onOutOfTurn }, told);
  }
  await noteProviderSuccess(deps.db, provider.code, 'creating');
  if (pod.pricePerHourCents !== null) return checkPrice(deps, provider, attempt, pod, agreed);
  return resolveAttempt(deps, provider, { ...attempt, pod_id: pod.podId }, agreed);
}

function tokenFor(
  { settings }: ActivityDeps,
  { templateId }: Pick<PodOrder, 'templateId'>,
  attempt: AllocationAttemptRow,
): string | undefined {
  if (!isNotebook(templateId)) return undefined;
  return notebookTokenOf(settings.installationKey ?? '', attempt.rental_id);
}

function heldSecrets(software: Software | undefined, notebookToken: string | undefined): boolean {
  return notebookToken !== undefined || (software !== undefined && holdsSecrets(software));
}

/**
 * An upstream that refuses an order may repeat parts of it. Those words would stay in our log and our rows, so they are
 * left out where the order held secrets (decision 169, "Words about secrets"). A failure without a status holds no answer,
 * and is in our own words.
 */
function withoutWords(error: unknown): unknown {
  if (!(error instanceof ProviderError) || error.details.status === undefined) return error;
  const details = { ...error.details };
  delete details.code;
  return new ProviderError(error.kind, `creating a pod: ${error.briefly}`, details);
}

/**
 * Finds out by its tag what an attempt has bought if its answer was lost or did not tell the price (decision 21, "Lost
 * upstream answers"). A pod whose price nobody has read is not bought yet (decision 74, "Unread purchase prices").
 */
export async function resolveAttempt(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  agreed: Agreed,
): Promise<Purchase> {
  if (attempt.pod_id !== null) await recordAttemptPod(deps.db, attempt.id, attempt.pod_id);
  const pod = await lookForTag(provider, attempt.tag, agreed);
  if (!pod) return { kind: 'unknown', attempt, listed: false };
  return checkPrice(deps, provider, attempt, pod, agreed);
}

/**
 * Gives back a pod that is dearer than agreed (decision 19, "Order of an opening"), or that ends before it told its
 * price.
 */
async function checkPrice(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  pod: AllocatedPod & Partial<Pick<Pod, 'status'>>,
  agreed: Agreed,
): Promise<Purchase> {
  const { podId, pricePerHourCents, status } = pod;
  await recordAttemptPod(deps.db, attempt.id, podId);
  const isOver = status === 'lost' || status === 'ending';
  if (pricePerHourCents === null && !isOver) {
    deps.log.warn(
      { provider: provider.code, tag: attempt.tag, podId },
      'the pod does not tell its price yet',
    );
    return { kind: 'unknown', attempt: { ...attempt, pod_id: podId }, listed: status !== undefined };
  }
  const most = agreed.maxPricePerHourCents;
  const mostAtUpstream = most + diskCents(provider, agreed.diskGb);
  if (pricePerHourCents !== null && pricePerHourCents <= mostAtUpstream)
    return { kind: 'bought', attempt, podId };
  const error =
    pricePerHourCents === null
      ? 'the upstream lost the pod before it told its price'
      : `the pod costs ${pricePerHourCents} cents an hour, agreed were ${most}`;
  await condemn(deps, provider, attempt, podId, { error, failedBy: 'upstream' }, agreed);
  return { kind: 'none' };
}

/** The most that a pod may cost above its offer, in cents an hour, for its disk. */
function diskCents({ diskPrice }: Provider, diskGb: number | null | undefined): number {
  return diskPrice === undefined ? 0 : Math.ceil((diskGb ?? diskPrice.usualGb) * diskPrice.centsPerGbHour);
}

async function judgeFailure(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  agreed: Agreed,
  error: unknown,
): Promise<Purchase> {
  if (!(error instanceof ProviderError)) throw error;
  deps.log.warn(
    { rentalId: attempt.rental_id, tag: attempt.tag, kind: error.kind, err: error },
    'allocation failed',
  );
  if (error.kind !== 'unknown') return noteRefusal(deps, provider, attempt, agreed, error);
  const named = { ...attempt, pod_id: error.details.podId ?? null };
  const purchase = await resolveAttempt(deps, provider, named, agreed);
  // A create whose machine is there was a slow one: it is no failure of the upstream.
  const isThere = purchase.kind !== 'unknown' || purchase.listed;
  if (isThere) await noteProviderSuccess(deps.db, provider.code, 'creating');
  else await noteProviderFailure(deps.db, provider.code, 'creating', error);
  return purchase;
}

/** Nothing was bought. */
async function noteRefusal(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  { onOutOfTurn }: Agreed,
  error: ProviderError,
): Promise<Purchase> {
  const { outOfTurn = false, retryAfterMs = 0, unfitOrder = false } = error.details;
  const words = `${error.kind}: ${error.message}`;
  if (unfitOrder) {
    await moveAttempt(deps.db, attempt.id, 'open', 'failed', { error: words, failedBy: 'us' });
    return { kind: 'none', isUnfit: true };
  }
  await noteProviderFailure(deps.db, provider.code, 'creating', error);
  if (outOfTurn) {
    await (onOutOfTurn?.(retryAfterMs) ?? endOutOfTurn(deps.db, attempt.id, retryAfterMs, words));
    return { kind: 'none', outOfTurnMs: retryAfterMs };
  }
  await moveAttempt(deps.db, attempt.id, 'open', 'failed', {
    error: words,
    // A refusal of our account and a limit on our requests say nothing about the upstream's machines.
    failedBy: error.kind === 'no_capacity' ? 'upstream' : 'us',
  });
  return { kind: 'none' };
}

/**
 * Looks for the pod of a tag, and for its price, until both are known or the time is over. Lists lag, so one look
 * proves nothing.
 */
async function lookForTag(
  provider: Provider,
  tag: string,
  { lookMs, untilMs = Infinity }: Agreed,
): Promise<Pod | undefined> {
  const deadline = Math.min(performance.now() + lookMs, untilMs);
  let seen: Pod | undefined;
  for (;;) {
    try {
      seen = (await provider.find(tag, { untilMs })) ?? seen;
      if (seen !== undefined && (seen.pricePerHourCents !== null || seen.status === 'lost')) return seen;
    } catch (error) {
      // The upstream does not answer, which says nothing about the pod.
      if (!(error instanceof ProviderError)) throw error;
    }
    if (performance.now() >= deadline) return seen;
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, lookMs)));
  }
}

/**
 * Decides that an attempt's pod must end, and asks for it once. The sweeper asks until the pod is gone (decision 22,
 * "Machines of nobody").
 */
export async function condemn(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  podId: string | null,
  why: { readonly error: string; readonly failedBy: FailedBy },
  wait: Wait = {},
): Promise<void> {
  if (!(await moveAttempt(deps.db, attempt.id, 'open', 'condemned', why))) return;
  if (podId === null) return;
  try {
    await provider.terminate(podId, { untilMs: wait.untilMs });
  } catch (failure) {
    deps.log.warn(
      { tag: attempt.tag, podId, err: failure },
      'could not end a condemned pod yet; the sweeper goes on',
    );
  }
}
