import { createHmac } from 'node:crypto';
import { mailboxOf } from '../domain/accounts/mailbox.js';

/**
 * What is kept of a mailbox or a card when its account closes (decision 180, "What closing erases"): whoever has the
 * installation's key recognizes it, and nobody reads it.
 * @param installationKey in base64
 * @throws without a key: anybody could test guesses then
 */
function markOf(installationKey: string, kind: 'mailbox' | 'card', value: string): Buffer {
  if (installationKey === '') throw new Error('What a closed account leaves needs INSTALLATION_KEY.');
  return createHmac('sha256', Buffer.from(installationKey, 'base64'))
    .update(`gpu-rental closed ${kind} ${value}`)
    .digest();
}

/** @param email in lower case */
export function markOfMailbox(installationKey: string, email: string): Buffer {
  return markOf(installationKey, 'mailbox', mailboxOf(email));
}

/** What stands in the place of a card's fingerprint. */
export function markOfCard(installationKey: string, fingerprint: string): string {
  return `hmac:${markOf(installationKey, 'card', fingerprint).toString('hex')}`;
}
