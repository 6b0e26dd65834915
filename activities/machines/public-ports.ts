import { isSharedAddress } from '../../adapters/postgres/machines/awaited-rentals.js';
import type { PodRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../domain/ids.js';
import { openedAt } from '../../domain/rentals/endpoints.js';
import type { SoftwarePort } from '../../domain/rentals/software.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Where the daemon of a machine with an address of its own listens. Elsewhere machines share an address, also with
 * machines of others, and a port there is this machine's only where its upstream says so.
 */
const OWN_SSH_PORT = 22;

/** Tells whether one of the public ports answers, at an address that is this machine's alone. */
export async function answersAtPort(
  { db, prober, settings }: ActivityDeps,
  rentalId: RentalId,
  ports: readonly SoftwarePort[],
  pod: Pick<PodRow, 'host' | 'port' | 'ports'>,
): Promise<boolean> {
  if (pod.ports === null && pod.port !== OWN_SSH_PORT) return false;
  const opened = ports.filter((port) => port.public).flatMap((port) => openedAt(port, pod) ?? []);
  const answers = await Promise.all(
    opened.map(async ({ url, host, hostPort }) => {
      const target = { url, host, port: hostPort };
      if (!(await prober.answers(target, settings.allowPrivatePods))) return false;
      return url !== null || !(await isSharedAddress(db, rentalId, { host, port: hostPort }));
    }),
  );
  return answers.includes(true);
}
