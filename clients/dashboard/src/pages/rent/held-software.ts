import { useState } from 'react';
import { noSoftware, type HeldSoftware } from './software-draft.js';

/**
 * What was typed of own software and not rented yet. It may hold secrets, so it lives in the memory of the document alone:
 * it is there after a visit to other pages, and gone with a new document, which a sign-out loads.
 */
let held = noSoftware;

/** Own software of the form, as it was left. */
export function useHeldSoftware(): readonly [HeldSoftware, (own: HeldSoftware) => void] {
  const [own, setOwn] = useState(held);
  const hold = (next: HeldSoftware): void => {
    held = next;
    setOwn(next);
  };
  return [own, hold];
}

/** Tells whether anything of own software would be asked for. */
export const holdsSoftware = (): boolean => Object.keys(held.asked).length > 0;

/** What of own software stands in the form. */
export const heldSoftware = (): HeldSoftware => held;

/** It was rented, as it stood then. What was typed since stays. */
export function forgetSoftware(rented: HeldSoftware | undefined): void {
  if (held === rented) held = noSoftware;
}
