import { hkdfSync } from 'node:crypto';
import type { RentalId } from '../domain/ids.js';

/**
 * Makes the token that opens a rental's notebook (decision 168, "Notebook tokens"). It is kept nowhere: whoever holds
 * the key makes it anew.
 * @param installationKey in base64
 * @returns 64 hexadecimal digits
 * @throws without a key: anybody could make the token then
 */
export function notebookTokenOf(installationKey: string, rentalId: RentalId): string {
  if (installationKey === '') throw new Error('A notebook needs INSTALLATION_KEY for its token.');
  const key = Buffer.from(installationKey, 'base64');
  return Buffer.from(hkdfSync('sha256', key, '', `gpu-rental notebook ${rentalId}`, 32)).toString('hex');
}
