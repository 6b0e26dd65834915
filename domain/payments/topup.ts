import type { ApiKeyId, UserId } from '../ids.js';

/** A top-up's states. Only `credited` is final for a payment: an expired one that is paid after all is credited. */
export const topupStatuses = [
  'creating',
  'requires_payment',
  'processing',
  'succeeded',
  'expired',
  'failed',
] as const;
export type TopupStatus = (typeof topupStatuses)[number];

/** The source of a top-up's money: the hosted payment page, or a charge of the saved card, requested or automatic. */
export type TopupSource = 'checkout' | 'saved_card' | 'auto_topup';

/** A user's request to be charged; amounts in cents. */
export interface TopupRequest {
  readonly userId: UserId;
  readonly amountCents: number;
  /** The API key that asks; absent for a session. It never charges a card (decision 108, "API keys"). */
  readonly apiKeyId?: ApiKeyId;
}
