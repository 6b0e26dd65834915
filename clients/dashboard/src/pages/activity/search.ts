/** What the address of the activity tells. */
export interface ActivitySearch {
  /** Events unless told. */
  readonly tab?: 'audit';
  /** Events of this type alone, such as `rental.stopped`. */
  readonly type?: string;
  /** Records of this kind alone, such as `signed_in`. */
  readonly kind?: string;
}

/** Reads the search part of the address; what is none of it is left out. The page knows which types there are. */
export function readActivitySearch(search: Readonly<Record<string, unknown>>): ActivitySearch {
  const { tab, type, kind } = search;
  return {
    ...(tab === 'audit' && { tab }),
    ...(typeof type === 'string' && /^[a-z_]{1,32}\.[a-z_]{1,32}$/.test(type) && { type }),
    ...(typeof kind === 'string' && /^[a-z_]{1,64}$/.test(kind) && { kind }),
  };
}
