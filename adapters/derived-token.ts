import { hkdfSync } from 'node:crypto';

/**
 * Derives a token from the key of this installation (HKDF-SHA-256). It is kept nowhere: whoever holds the key makes it anew.
 * @param installationKey in base64
 * @param about what the token is for, as no other token says it
 * @returns 64 hexadecimal digits
 * @throws Error without a key: anybody could make the token then
 */
export function derivedToken(installationKey: string, about: string): string {
  if (installationKey === '') throw new Error(`The token of ${about} needs INSTALLATION_KEY.`);
  const key = Buffer.from(installationKey, 'base64');
  return Buffer.from(hkdfSync('sha256', key, '', `gpu-rental ${about}`, 32)).toString('hex');
}
