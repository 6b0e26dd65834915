import { createHash } from 'node:crypto';

/** The fingerprint of a public key, as OpenSSH writes it: SHA256:… @param key in base64 */
export function fingerprintOf(key: string): string {
  const digest = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}
