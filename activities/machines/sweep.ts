import { moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import { stopBlockedRentals } from '../../adapters/postgres/wallets/blocked-wallets.js';
import { noteDearerMachines } from '../../adapters/postgres/machines/dearer-machines.js';
import { claimSlowEnds } from '../../adapters/postgres/machines/pod-leaks.js';
import { recordSeenAlive } from '../../adapters/postgres/machines/pods.js';
import {
  credentialsPart,
  listStartingTags,
  mayKeepCredentials,
} from '../../adapters/postgres/rentals/software.js';
import { expectPodsOfRentals } from '../../adapters/postgres/machines/pods-watch.js';
import {
  beginWaitsAnew,
  closeCondemnedAttempts,
  condemnStrayPod,
  listForgottenAttempts,
  listStrayPods,
} from '../../adapters/postgres/upkeep/upkeep.js';
import type { KeptCredential, Provider } from '../../adapters/providers/provider.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { beginBlocksAnew } from '../../money/metering/tick.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem, eachPart } from '../each-item.js';
import type { Tell } from '../heartbeat.js';

export interface Swept {
  /** The tags of the machines that were told to end. */
  readonly ended: string[];
  readonly forgotten: number;
  readonly closed: number;
}

/**
 * Ends pods that no live rental owns, and gives up attempts that a crash left open (decision 22, "Machines of nobody").
 * Each part, upstream and machine stands by itself: one that fails keeps no other from it (decision 69, "Items that
 * fail").
 */
export async function sweep(deps: ActivityDeps, tell: Tell): Promise<Swept> {
  const { db } = deps;
  await eachPart(deps, 'sweep: instants ahead of the clock', async () => {
    await beginWaitsAnew(db);
    await beginBlocksAnew(db);
  });
  const forgotten = await eachPart(deps, 'sweep: forgotten attempts', () => giveUpForgotten(deps, tell));
  const ended: string[] = [];
  for (const provider of deps.providers.values()) {
    await eachPart(deps, `sweep: stray machines of ${provider.code}`, async () => {
      ended.push(...(await endStrays(deps, provider, tell)));
    });
  }
  for (const provider of deps.providers.values()) {
    await eachPart(deps, `sweep: dearer machines of ${provider.code}`, () =>
      noteDearerMachines(deps.db, provider),
    );
  }
  await eachPart(deps, 'sweep: credentials of registries', () => sweepCredentials(deps, tell));
  await eachPart(deps, 'sweep: machines of blocked wallets', () => endBlocked(deps, tell));
  await eachPart(deps, 'sweep: machines that no list showed', () => expectPodsOfRentals(db));
  await eachPart(deps, 'sweep: machines that do not end', () => logSlowEnds(deps));
  const closed = await eachPart(deps, 'sweep: condemned attempts', () =>
    closeCondemnedAttempts(db, 2 * rentalLimits.attemptOpenMs),
  );
  return { ended, forgotten: forgotten ?? 0, closed: closed ?? 0 };
}

async function giveUpForgotten(deps: ActivityDeps, tell: Tell): Promise<number> {
  const items = await listForgottenAttempts(deps.db, rentalLimits.attemptOpenMs);
  const given = await eachItem(deps, { duty: 'attempt', items, keyOf: ({ tag }) => tag, tell }, ({ id }) =>
    moveAttempt(deps.db, id, 'open', 'condemned', { error: 'no rental came of it', failedBy: 'us' }),
  );
  return given.length;
}

async function endStrays(deps: ActivityDeps, provider: Provider, tell: Tell): Promise<string[]> {
  const items = await listStrayPods(deps.db, provider.code, rentalLimits.attemptOpenMs);
  const keyOf = ({ podId }: { podId: string }) => `${provider.code}/${podId}`;
  const ended: string[] = [];
  await eachItem(deps, { duty: 'stray_pod', items, keyOf, tell }, async (stray) => {
    if (!(await condemnStrayPod(deps.db, stray))) return;
    deps.log.warn({ provider: provider.code, ...stray }, 'ending a pod that no rental owns');
    await provider.terminate(stray.podId);
    ended.push(stray.tag);
  });
  return ended;
}

/** Removes what upstreams keep for pulling images, once the machines have started (decision 154, "Sealed software"). */
async function sweepCredentials(deps: ActivityDeps, tell: Tell): Promise<void> {
  if (!(await mayKeepCredentials(deps.db))) return;
  for (const { code, credentials } of deps.providers.values()) {
    if (!credentials) continue;
    await eachPart(deps, `${credentialsPart}${code}`, async () => {
      // Each has its attempt before it is made, so the machine of each that is listed is known afterwards.
      const kept = await credentials.list();
      const starting = await listStartingTags(deps.db, code);
      const items = kept.filter(({ tag }) => !starting.has(tag));
      const keyOf = ({ id }: KeptCredential) => `${code}/${id}`;
      await eachItem(deps, { duty: 'credential', items, keyOf, tell }, ({ id }) => credentials.remove(id));
    });
  }
}

async function endBlocked(deps: ActivityDeps, tell: Tell): Promise<void> {
  const items = await stopBlockedRentals(deps.db, meteringLimits.blockedForMs);
  const keyOf = (pod: (typeof items)[number]) => `${pod.providerCode}/${pod.podId}`;
  await eachItem(deps, { duty: 'blocked_pod', items, keyOf, tell }, async (pod) => {
    deps.log.error({ ...pod }, 'ending a machine whose wallet can’t be metered');
    const provider = deps.providers.get(pod.providerCode);
    if (!provider) throw new Error(`${pod.providerCode} is not configured: end ${pod.podId} there by hand`);
    await recordSeenAlive(deps.db, pod.providerCode, pod.podId);
    await provider.terminate(pod.podId);
  });
}

async function logSlowEnds(deps: ActivityDeps): Promise<void> {
  for (const pod of await claimSlowEnds(deps.db)) {
    deps.log.error({ ...pod }, 'a machine does not end although we ended it: check the upstream’s console');
  }
}
