/** What the address of a rental's page tells. */
export interface RentalSearch {
  /** The form of its limits is open. */
  readonly limits?: true;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readRentalSearch({ limits }: Readonly<Record<string, unknown>>): RentalSearch {
  return limits === true ? { limits } : {};
}
