import type { Rental } from './rental.js';
import type { RenterKey } from './renter-key.js';
import { libraryClient } from './ssh-client.js';
import { tell, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** Logs in to the machine by a client of our own, and lists its GPUs: they must be the rented ones. */
export async function logIn(stage: Stage, rental: Rental, key: RenterKey): Promise<void> {
  const { host, port, username, hostKeyFingerprint } = rental;
  claim(
    host !== null && port !== null && username !== null,
    'the rental runs but shows no address. GET /v1/rentals/:id must show host, port and username.',
  );
  tell(stage, `$ ssh -p ${port} ${username}@${host} nvidia-smi`);
  const login = { host, port, username, privatePem: key.privatePem, command: 'nvidia-smi' };
  const result = await libraryClient.run(login);
  tell(stage, result.stdout);
  claim(
    result.exitCode === 0,
    `ssh ended with exit code ${result.exitCode}: ${result.stderr.trim()}. See the GPU provider's log.`,
  );
  claim(
    result.hostKeyFingerprint === hostKeyFingerprint,
    `the machine's host key is ${result.hostKeyFingerprint ?? 'unknown'}, but the rental names ` +
      `${hostKeyFingerprint ?? 'none'}. Do not trust this connection.`,
  );
  claimGpus(stage, rental, result.stdout);
}

/** @param shown what nvidia-smi printed */
export function claimGpus(stage: Stage, { gpuCount }: Rental, shown: string): void {
  const count = shown.match(/^\|\s+\d+\s+NVIDIA /gm)?.length ?? 0;
  claim(
    count === gpuCount,
    `nvidia-smi shows ${count} GPUs, but ${gpuCount} were rented. See what the provider sold.`,
  );
  tell(stage, `${count} GPUs; the host key is the one that the rental names`);
}
