import type { SshKey } from '@gpu-rental/client';
import { Failure, usageFailure } from '../failure.js';

/**
 * Finds the one of the stored SSH keys that is meant.
 * @param given its id, name or fingerprint
 * @throws Failure where none is, or several are
 */
export function findSshKey(stored: readonly SshKey[], given: string): SshKey {
  const meant = stored.filter(({ id, name, fingerprint }) => [id, name, fingerprint].includes(given));
  const [key, ...others] = meant;
  if (!key) throw new Failure('notFound', `No SSH key "${given}" is stored.`, 'See them with: gpu keys ssh');
  if (others.length > 0)
    throw usageFailure(`Several keys are called "${given}".`, 'Use its id or fingerprint.');
  return key;
}
