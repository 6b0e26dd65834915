import { ulid } from 'ulid';
import type { IdPrefix } from '../domain/ids.js';

/** Mints a public id: the prefix and a ULID (decision 1). For the API and activities only: it is random. */
export function newId<P extends IdPrefix>(prefix: P): `${P}_${string}` {
  return `${prefix}_${ulid()}`;
}
