import type { SshKey } from '@gpu-rental/client';
import type { Cli } from '../cli.js';
import { Failure, usageFailure } from '../failure.js';

/**
 * Finds the stored SSH key that is meant.
 * @param given its id, name or fingerprint
 * @throws Failure where none is, or several are
 */
export async function findSshKey(cli: Cli, given: string): Promise<SshKey> {
  const meant = (await cli.client().sshKeys.list({ signal: cli.signal })).filter(
    ({ id, name, fingerprint }) => [id, name, fingerprint].includes(given),
  );
  const [key, ...others] = meant;
  if (!key) throw new Failure('notFound', `No SSH key "${given}" is stored.`, 'See them with: gpu keys ssh');
  if (others.length > 0)
    throw usageFailure(`Several keys are called "${given}".`, 'Use its id or fingerprint.');
  return key;
}
