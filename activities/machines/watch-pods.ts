import {
  findMissingPods,
  learnHostKey,
  listPodsToProbe,
  moveAddress,
  recordProbes,
  type MissingPod,
  type ProbedPod,
  type ReachablePod,
} from '../../adapters/postgres/machines/pods-watch.js';
import { recordPodList, type PodList } from '../../adapters/postgres/machines/pods.js';
import { machineLimits } from '../../domain/machines/limits.js';
import type { ActivityDeps } from '../deps.js';
import { answersAtPort } from './public-ports.js';

/**
 * Judges one list of our pods, and records it. A machine that the list misses is gone after the next list misses it
 * too. There is one exception: more than a fifth of the running machines vanish at once. Then those that still answer as
 * they did before are held, and with them those that never had anywhere to ask, and wait for an operator, because a list
 * that lies must not end what people work on.
 * @returns how many are held
 */
export async function judgePodList(deps: ActivityDeps, providerCode: string, list: PodList): Promise<number> {
  const { missing, vanished, running, accepted } = await findMissingPods(
    deps.db,
    providerCode,
    list.pods.map(({ podId }) => podId),
  );
  const many = vanished > running * machineLimits.vanishedShare;
  // What is held stays so until it is listed again or released, however many others run by then.
  const doubted = many ? missing : missing.filter(({ isHeld }) => isHeld);
  const held = accepted ? [] : await listAlive(deps, providerCode, doubted);
  if (held.length > 0) {
    deps.log.error(
      { provider: providerCode, missing: vanished, running, held: held.length },
      'many machines vanished from the list at once, and nothing else says that they are gone: we keep them until you decide (ops providers)',
    );
  }
  // Nobody saw them after the list that began their hold, however long it was.
  const unseen = missing.filter((pod) => pod.isHeld && !canBeAsked(pod)).map(({ podId }) => podId);
  await recordPodList(deps.db, providerCode, list, held, unseen);
  return held.length;
}

/**
 * Lists which of these machines are alive for all we know: one with SSH answers with its own key, one that was ready by a
 * public port answers there. One that only its grace made ready can't be asked: it is alive where another one shows that the
 * list lies, or where several vanished and none could be asked. One that answered a moment ago is not asked again at once.
 */
async function listAlive(
  deps: ActivityDeps,
  providerCode: string,
  pods: readonly MissingPod[],
): Promise<string[]> {
  const silent = pods.filter(({ isFresh }) => !isFresh);
  const [probed, atPorts] = await Promise.all([probeAll(deps, silent), askPorts(deps, silent)]);
  // A silence at a port is no warning of SSH.
  await recordProbes(deps.db, providerCode, [...probed, ...atPorts.filter(({ answered }) => answered)]);
  const dead = [...probed, ...atPorts].filter(({ answered, keyChanged }) => !answered || keyChanged);
  const deadIds = new Set(dead.map(({ podId }) => podId));
  const asked = pods.filter(canBeAsked);
  const alive = asked.filter(({ podId }) => !deadIds.has(podId));
  const others = pods.filter((pod) => !canBeAsked(pod));
  const isListWrong =
    alive.length > 0 || (asked.length === 0 && others.length >= machineLimits.vanishedUnasked);
  return [...alive, ...others.filter(({ isHeld }) => isHeld || isListWrong)].map(({ podId }) => podId);
}

/** Asks the machines that were ready by a public port there. */
function askPorts(deps: ActivityDeps, pods: readonly MissingPod[]): Promise<ProbedPod[]> {
  return Promise.all(
    pods.flatMap(({ podId, rentalId, readyAt }) =>
      readyAt === null
        ? []
        : [
            answersAtPort(deps, rentalId, readyAt.ports, readyAt.pod).then((answered) => ({
              ...{ podId, answered, keyChanged: false },
            })),
          ],
    ),
  );
}

/** Asks the running machines themselves, each every half minute. Renters and operators see the answer. */
export async function askRunningPods(deps: ActivityDeps, providerCode: string): Promise<number> {
  const pods = await listPodsToProbe(deps.db, providerCode);
  const stayed = pods.filter(({ movedTo }) => movedTo === null);
  const [moved, probed] = await Promise.all([followMoves(deps, pods), probeAll(deps, stayed)]);
  await recordProbes(deps.db, providerCode, [...moved, ...probed]);
  return pods.length;
}

/** Follows machines that have moved: the upstream shows them elsewhere now, and their daemon answers there. */
async function followMoves(deps: ActivityDeps, pods: readonly ReachablePod[]): Promise<ProbedPod[]> {
  const probed = pods.map(async ({ podId, rentalId, movedTo, host }) => {
    if (movedTo === null) return [];
    const key = await deps.prober.hostKey({ ...movedTo, allowPrivate: deps.settings.allowPrivatePods });
    if (key !== undefined) {
      await moveAddress(deps.db, rentalId, { ...movedTo, fingerprint: key });
      deps.log.warn({ rentalId, ...movedTo }, 'a running machine has another address now');
    }
    // A daemon that never answered is not silent now: an image need not have one.
    return [{ podId, answered: key !== undefined || host === null, keyChanged: false }];
  });
  return (await Promise.all(probed)).flat();
}

function canBeAsked(pod: MissingPod): boolean {
  return hasAddress(pod) || pod.readyAt !== null;
}

function hasAddress(pod: ReachablePod): pod is ReachablePod & { host: string; port: number } {
  return pod.host !== null && pod.port !== null;
}

async function probeAll(deps: ActivityDeps, pods: readonly ReachablePod[]): Promise<ProbedPod[]> {
  return Promise.all(
    pods.filter(hasAddress).map(async (pod) => {
      const { podId, host, port, fingerprint } = pod;
      const key = await deps.prober.hostKey({ host, port, allowPrivate: deps.settings.allowPrivatePods });
      if (key !== undefined && fingerprint === null) await learnHostKey(deps.db, pod, key);
      return {
        podId,
        answered: key !== undefined,
        keyChanged: key !== undefined && fingerprint !== null && key !== fingerprint,
      };
    }),
  );
}
