import {
  findMissingPods,
  listPodsToProbe,
  moveAddress,
  recordProbes,
  type ProbedPod,
  type ReachablePod,
} from '../../adapters/postgres/machines/pods-watch.js';
import { recordPodList, type PodList } from '../../adapters/postgres/machines/pods.js';
import { machineLimits } from '../../domain/machines/limits.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Judges one list of our pods, and records it. A machine that the list misses is gone after the next list misses it
 * too. There is one exception: more than a fifth of the running machines vanish at once. Then those whose daemon still
 * answers with its own key are held, and wait for an operator, because a list that lies must not end what people work
 * on.
 * @returns how many are held
 */
export async function judgePodList(deps: ActivityDeps, providerCode: string, list: PodList): Promise<number> {
  const { missing, running, accepted } = await findMissingPods(
    deps.db,
    providerCode,
    list.pods.map(({ podId }) => podId),
  );
  const many = missing.length > running * machineLimits.vanishedShare;
  const held = many && !accepted ? await listAlive(deps, providerCode, missing) : [];
  if (held.length > 0) {
    deps.log.error(
      { provider: providerCode, missing: missing.length, running, held: held.length },
      'many machines vanished from the list at once but still answer: we keep them until you decide (ops providers)',
    );
  }
  await recordPodList(deps.db, providerCode, list, held);
  return held.length;
}

/** Lists which of these machines answer with their own key. One that did a moment ago is not asked again at once. */
async function listAlive(
  deps: ActivityDeps,
  providerCode: string,
  pods: readonly ReachablePod[],
): Promise<string[]> {
  const isFresh = ({ aliveAt }: ReachablePod): boolean =>
    aliveAt !== null && Date.now() - aliveAt.getTime() < machineLimits.reachEveryMs / 2;
  const probed = await probeAll(
    deps,
    pods.filter((pod) => !isFresh(pod)),
  );
  await recordProbes(deps.db, providerCode, probed);
  const alive = probed.filter(({ answered, keyChanged }) => answered && !keyChanged);
  return [...pods.filter(isFresh), ...alive].map(({ podId }) => podId);
}

/** Asks the running machines themselves, each every half minute. Renters and operators see the answer. */
export async function askRunningPods(deps: ActivityDeps, providerCode: string): Promise<number> {
  const pods = await listPodsToProbe(deps.db, providerCode);
  const moved = await followMoves(deps, pods);
  const probed = await probeAll(
    deps,
    pods.filter(({ movedTo }) => movedTo === null),
  );
  await recordProbes(deps.db, providerCode, [...moved, ...probed]);
  return pods.length;
}

/** Follows machines that have moved: the upstream shows them elsewhere now, and their daemon answers there. */
async function followMoves(deps: ActivityDeps, pods: readonly ReachablePod[]): Promise<ProbedPod[]> {
  const probed: ProbedPod[] = [];
  for (const { podId, rentalId, movedTo, host } of pods) {
    if (movedTo === null) continue;
    const key = await deps.prober.hostKey({ ...movedTo, allowPrivate: deps.settings.allowPrivatePods });
    // A daemon that never answered is not silent now: an image need not have one.
    probed.push({ podId, answered: key !== undefined || host === null, keyChanged: false });
    if (key === undefined) continue;
    await moveAddress(deps.db, rentalId, { ...movedTo, fingerprint: key });
    deps.log.warn({ rentalId, ...movedTo }, 'a running machine has another address now');
  }
  return probed;
}

function hasAddress(pod: ReachablePod): pod is ReachablePod & { host: string; port: number } {
  return pod.host !== null && pod.port !== null;
}

async function probeAll(deps: ActivityDeps, pods: readonly ReachablePod[]): Promise<ProbedPod[]> {
  return Promise.all(
    pods.filter(hasAddress).map(async ({ podId, host, port, fingerprint }) => {
      const key = await deps.prober.hostKey({ host, port, allowPrivate: deps.settings.allowPrivatePods });
      return {
        podId,
        answered: key !== undefined,
        keyChanged: key !== undefined && fingerprint !== null && key !== fingerprint,
      };
    }),
  );
}
