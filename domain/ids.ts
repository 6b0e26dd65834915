/**
 * Public ids: a prefix and a 26-character ULID (decision 1, "Public ids"). They are minted in the API and in
 * activities, never in workflows (adapters/ids.ts), because minting is random.
 */
export type UserId = `usr_${string}`;
export type RentalId = `rent_${string}`;
export type ListingId = `lst_${string}`;
export type LedgerEntryId = `led_${string}`;
export type InvoiceId = `inv_${string}`;
export type LineItemId = `li_${string}`;
export type SshKeyId = `key_${string}`;
/** An API key; its prefix is that of SSH keys too, and neither is ever looked for among the others. */
export type ApiKeyId = `key_${string}`;
export type TopupId = `top_${string}`;
export type ChangeId = `chg_${string}`;
export type OperationId = `op_${string}`;
export type QuoteId = `quo_${string}`;
export type AuditEventId = `aud_${string}`;
export type EventId = `evt_${string}`;
export type WebhookId = `wh_${string}`;
export type DeliveryId = `dlv_${string}`;
export type SessionId = `ses_${string}`;
export type PasskeyId = `psk_${string}`;
/** What a renter's own software keeps sealed. */
export type SoftwareId = `sw_${string}`;

/** Every prefix that the service mints. */
export type IdPrefix =
  | 'usr'
  | 'rent'
  | 'lst'
  | 'led'
  | 'inv'
  | 'li'
  | 'key'
  | 'top'
  | 'op'
  | 'quo'
  | 'aud'
  | 'evt'
  | 'chg'
  | 'wh'
  | 'dlv'
  | 'ses'
  | 'psk'
  | 'sw';

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Tells whether a text has the shape of an id with this prefix. An id of another shape can't exist, so the
 * caller answers "not found" without asking the database.
 */
export function isId<P extends IdPrefix>(prefix: P, text: string): text is `${P}_${string}` {
  return text.startsWith(`${prefix}_`) && ULID.test(text.slice(prefix.length + 1));
}
