import { ProviderError, type AllocationRequest } from '../provider.js';

/** The refusal of an order that is none here. */
export function noSuchOrder({ offerId, templateId }: AllocationRequest): ProviderError {
  return new ProviderError('refused', `no such offer or template: ${offerId}, ${templateId}`);
}

/**
 * Checks that our lists will show what is bought: a pod without our prefix would never be listed again.
 * @param tag.maxChars what the upstream keeps of a tag
 * @throws ProviderError refused
 */
export function checkTag(
  tag: string,
  { prefix, maxChars = Infinity }: { prefix: string; maxChars?: number },
): void {
  if (tag.startsWith(prefix) && tag.length <= maxChars) return;
  const most = maxChars === Infinity ? '' : ` and have at most ${maxChars} characters`;
  throw new ProviderError('refused', `a tag must begin with ${prefix}${most}: ${tag}`);
}
