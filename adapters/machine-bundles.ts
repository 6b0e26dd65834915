import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { MachinePurpose } from '../domain/machines/calls.js';
import { derivedToken } from './derived-token.js';

/**
 * What the machine of one attempt fetches by its token (decision 172, "The listener of machines"). A sealed bundle is a
 * version, a nonce, and the text by AES-256-GCM, whose key is derived (HKDF-SHA-256) from the token. The database has the
 * token's hash alone, so nobody opens the bundle but whoever is given the token.
 */
const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PURPOSE_OF_KEY = 'gpu-rental machine bundle';

/**
 * Makes a token of an attempt's machine: a purchase that is repeated makes the same.
 * @param tag the attempt's, which is never used again
 * @throws Error without a key
 */
export function machineTokenOf(installationKey: string, purpose: MachinePurpose, tag: string): string {
  return derivedToken(installationKey, `machine ${purpose} ${tag}`);
}

/** The hash by which the database knows a token. */
export function hashOfMachineToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Seals a text for whoever has the token. */
export function sealBundle(token: string, text: string): Buffer {
  const head = Buffer.concat([Buffer.of(VERSION), randomBytes(NONCE_BYTES)]);
  const cipher = createCipheriv('aes-256-gcm', keyOf(token), head.subarray(1)).setAAD(head.subarray(0, 1));
  return Buffer.concat([head, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Opens a sealed bundle. @throws Error when the token is another one's, or the bundle was changed */
export function openBundle(token: string, sealed: Buffer): string {
  if (sealed[0] !== VERSION) throw new Error('the bundle is of a version that is not known');
  const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(token), nonce)
    .setAAD(sealed.subarray(0, 1))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  const text = decipher.update(sealed.subarray(1 + NONCE_BYTES, -TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString('utf8');
}

function keyOf(token: string): Buffer {
  return Buffer.from(hkdfSync('sha256', token, '', PURPOSE_OF_KEY, 32));
}
