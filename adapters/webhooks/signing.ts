import { Webhook } from 'standardwebhooks';

/**
 * Signs a message as Standard Webhooks says, with each of the secrets that are valid now, so that a receiver that knows
 * one of them accepts it.
 * @param secrets whsec_…, the newest first
 * @returns the headers that carry the id, the time and the signatures
 */
export function signedHeaders(
  secrets: readonly string[],
  message: { readonly id: string; readonly at: Date; readonly body: string },
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign(message.id, message.at, message.body));
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(message.at.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
