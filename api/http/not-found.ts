import { Refusal } from '../../domain/refusal.js';

const SHOWN_CHARS = 200;

/** The refusal of an address at which nothing answers. @param path cut where it is long */
export function noSuchRoute(path: string, next = 'GET /v1/openapi.json lists every route'): Refusal {
  const message = `There is nothing at ${shortened(path)}. ${next}.`;
  return new Refusal('not_found', message, { reason: 'unknown_route' });
}

/** The refusal of something that is not there, of a kind without a code of its own. @param message names it and the next step */
export function noSuchThing(message: string): Refusal {
  return new Refusal('not_found', message, { reason: 'unknown_entry' });
}

/** A text of the caller's own, cut for a message. */
export function shortened(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}
