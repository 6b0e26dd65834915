export { readWritten } from './calendar.js';
export { GpuRental } from './client.js';
export { ApiError, ConnectionError, isApiError } from './errors.js';
export type { AnyApiError, DetailsOf, ErrorCode } from './errors.js';
export type { KeyedOptions } from './nouns/rentals.js';
export { isPassing } from './retries.js';
export { newIdempotencyKey } from './new-key.js';
export { RentalNotReadyError, type WaitOptions } from './nouns/wait-until-ready.js';
export type { Paged } from './pages.js';
export type { StreamItem, StreamOptions } from './stream.js';
export type { CallOptions, Retry, RouteRequest, TransportOptions as GpuRentalOptions } from './transport.js';
/** The things of the API as it describes them: `Schemas['Rental']`. */
export type { components, paths } from './schema.js';
export type * from './types.js';
export { plainAnswer, plainText } from './texts.js';
export { lookUp, wordOf } from './words.js';
export { worstCaseCents, type LimitedRental } from './worst-case.js';
export { signWebhook, verifyWebhook, WebhookVerificationError } from './webhooks.js';
export type { WebhookChallenge, WebhookFault, WebhookHeaders, WebhookMessage } from './webhooks.js';
