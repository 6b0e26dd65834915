import type { RentalId } from '../domain/ids.js';
import { derivedToken } from './derived-token.js';

/** Makes the token that opens a rental's notebook (decision 168, "Notebook tokens"). @throws Error without a key */
export function notebookTokenOf(installationKey: string, rentalId: RentalId): string {
  return derivedToken(installationKey, `notebook ${rentalId}`);
}
