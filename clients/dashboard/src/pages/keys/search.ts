/** What the address of the keys' page tells. */
export interface KeysSearch {
  /** The form of a new key is open. */
  readonly add?: true;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readKeysSearch({ add }: Readonly<Record<string, unknown>>): KeysSearch {
  return add === true ? { add } : {};
}
