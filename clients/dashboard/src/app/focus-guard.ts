import { canHaveFocus, focusAgain, placeOf, type FocusPlace } from '../ui/focus-place.js';

/** A dialog that closes gives the focus back by itself, a task later. */
const SETTLES_MS = 60;

let held: FocusPlace | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * Keeps the focus on the page for as long as the document is there. A browser drops it to the body when what has it is
 * taken away or disabled, and whoever goes by the keyboard or hears the page would begin at the top: it goes on to what
 * stands next, or else to the heading. Who leaves the focus by themselves keeps it where they are.
 */
export function guardFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && target !== document.body) held = placeOf(target);
  });
  document.addEventListener('pointerdown', () => {
    // Somebody pressed beside it: only then is it still there to be used.
    setTimeout(() => {
      if (isDropped() && held && canHaveFocus(held.element)) held = undefined;
    });
  });
  new MutationObserver(() => {
    if (!held || canHaveFocus(held.element)) return;
    clearTimeout(timer);
    timer = setTimeout(goOn, SETTLES_MS);
  }).observe(document.body, {
    ...{ childList: true, subtree: true },
    attributeFilter: ['disabled', 'hidden', 'inert'],
  });
}

const isDropped = (): boolean => document.activeElement === null || document.activeElement === document.body;

function goOn(): void {
  if (!held || !isDropped() || canHaveFocus(held.element)) return;
  const place = held;
  held = undefined;
  focusAgain(place);
}
