import { lookUpByDns, resolvePublicAddress } from '../../adapters/public-address.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import { readReceiverUrl } from '../../domain/webhooks/receiver-url.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { fieldRefusal } from '../http/validation.js';

/**
 * Reads the address of a receiver, and looks whether its name leads to a public address now, so that a mistake is told
 * at once. What counts is the same check at each delivery; a name that is not known yet may be by then.
 * @returns the address in its normal form
 * @throws Refusal validation_failed that says what is wrong with it
 */
export async function checkReceiver(ctx: ApiContext, { settings }: ApiDeps, text: string): Promise<string> {
  const { allowPrivate, ownHosts } = settings.webhooks;
  const read = readReceiverUrl(text, { allowPrivate, ownHosts });
  if ('fault' in read) throw fieldRefusal('url', `url ${read.fault}`);
  // Another's name server may take its time.
  ctx.state.passTurn?.();
  const found = await resolvePublicAddress({
    host: read.url.hostname.replace(/^\[(.*)\]$/, '$1'),
    allowPrivate,
    timeoutMs: webhookLimits.lookUpMs,
    lookUp: lookUpByDns(webhookLimits.lookUpMs),
  });
  if ('refused' in found && found.refused === 'private-address') {
    throw fieldRefusal('url', 'url must point to a public address, not into a private network');
  }
  return read.url.href;
}
