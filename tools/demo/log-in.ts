import type { Rental } from './rental.js';
import type { RenterKey } from './renter-key.js';
import { chooseSshClient } from './ssh-client.js';
import { tell, type Stage } from './stage.js';
import { claim } from './story-error.js';

/** Logs in to the machine over SSH and lists its GPUs: they must be the rented ones. */
export async function logIn(stage: Stage, rental: Rental, key: RenterKey): Promise<void> {
  const { host, port, username, hostKeyFingerprint } = rental;
  claim(
    host !== null && port !== null && username !== null,
    'the rental runs but shows no address. GET /v1/rentals/:id must show host, port and username.',
  );
  const client = chooseSshClient();
  tell(stage, `$ ssh -p ${port} ${username}@${host} nvidia-smi   (${client.name})`);
  const login = { host, port, username, privatePem: key.privatePem, command: 'nvidia-smi' };
  const result = await client.run(login);
  tell(stage, result.stdout);
  claim(
    result.exitCode === 0,
    `ssh ended with exit code ${result.exitCode}: ${result.stderr.trim()}. See the GPU provider's log.`,
  );
  const shown = result.stdout.match(/^\|\s+\d+\s+NVIDIA /gm)?.length ?? 0;
  claim(
    shown === rental.gpuCount,
    `nvidia-smi shows ${shown} GPUs, but ${rental.gpuCount} were rented. See what the provider sold.`,
  );
  claim(
    result.hostKeyFingerprint === hostKeyFingerprint,
    `the machine's host key is ${result.hostKeyFingerprint ?? 'unknown'}, but the rental names ` +
      `${hostKeyFingerprint ?? 'none'}. Do not trust this connection.`,
  );
  tell(stage, `${shown} GPUs; the host key is the one that the rental names`);
}
