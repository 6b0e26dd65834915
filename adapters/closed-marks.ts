import { createHmac } from 'node:crypto';
import { mailboxOf } from '../domain/accounts/mailbox.js';

/**
 * Turns a mailbox or a card into what is kept of it when its account closes (decision 183, "What closing erases"): whoever
 * has the installation's key recognizes it, and nobody reads it.
 * @param installationKey in base64
 * @param value a card's fingerprint, or an address in lower case
 * @throws without a key: anybody could test guesses then
 */
export function markOf(installationKey: string, kind: 'mailbox' | 'card', value: string): string {
  if (installationKey === '') throw new Error('What a closed account leaves needs INSTALLATION_KEY.');
  const hmac = createHmac('sha256', Buffer.from(installationKey, 'base64'));
  const marked = kind === 'mailbox' ? mailboxOf(value) : value;
  return `hmac:${hmac.update(`gpu-rental closed ${kind} ${marked}`).digest('hex')}`;
}

/** Whether a text is a mark already. */
export function isMark(value: string): boolean {
  return value.startsWith('hmac:');
}
