/** What the address of a webhook's page tells. */
export interface WebhookSearch {
  /** Only the tries that failed. */
  readonly tries?: 'failed';
}

/** Reads the search part of the address; what is none of it is left out. */
export function readWebhookSearch({ tries }: Readonly<Record<string, unknown>>): WebhookSearch {
  return tries === 'failed' ? { tries } : {};
}
