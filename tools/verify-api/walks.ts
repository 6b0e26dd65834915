import type { Api } from '../demo/api.js';

interface Linked {
  readonly paths: Readonly<Record<string, Readonly<Record<string, LinkedOperation>>>>;
}

interface LinkedOperation {
  parameters?: readonly { readonly in?: string }[];
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Link>> }>>;
}

interface Link {
  readonly requestBody?: unknown;
}

/**
 * The description as walks need it: where a link says what to send, that is sent and nothing made up beside it. Made-up
 * fields of a rental's request would nearly always be refused. A list is asked for as a whole: what is made up to
 * filter it finds nothing, and schemathesis begins no walk where a filter names what nobody makes.
 * @param document the API's description, of which a changed copy is returned
 */
export function forWalks(document: object): object {
  const copy = structuredClone(document) as Linked;
  const operations = Object.values(copy.paths).flatMap((item) => Object.values(item));
  const answers = operations.flatMap(({ responses }) => Object.values(responses));
  for (const operation of operations) {
    const { parameters } = operation;
    if (parameters) operation.parameters = parameters.filter((parameter) => parameter.in === 'path');
  }
  for (const link of answers.flatMap(({ links = {} }) => Object.values(links))) {
    if (link.requestBody !== undefined) Object.assign(link, { 'x-schemathesis': { merge_body: false } });
  }
  return copy;
}

interface Rentals {
  readonly rentals: readonly { readonly stopReason: string | null }[];
}

/** How many rentals of a user were opened by walks, and how many of them were stopped by one. */
export async function countWalked(api: Pick<Api, 'get'>): Promise<{ opened: number; stopped: number }> {
  const { rentals } = (await api.get('/v1/rentals?pageSize=200')) as Rentals;
  return {
    opened: rentals.length,
    stopped: rentals.filter(({ stopReason }) => stopReason === 'user').length,
  };
}
