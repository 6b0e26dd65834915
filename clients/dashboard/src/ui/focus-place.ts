const USABLE =
  'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [role="combobox"]';

/** Where the focus is, with what is around it at that moment. */
export interface FocusPlace {
  readonly element: HTMLElement;
  /** From the element's parent up to the page. */
  readonly around: readonly Element[];
  /** What can be used, in the order of the page, and the element's place there. */
  readonly usable: readonly HTMLElement[];
  readonly place: number;
}

export function placeOf(element: HTMLElement): FocusPlace {
  const around: Element[] = [];
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement) around.push(at);
  const usable = [...(around.at(-1) ?? element).querySelectorAll<HTMLElement>(USABLE)];
  return { element, around, usable, place: usable.indexOf(element) };
}

/** Tells whether an element can have the focus still. */
export const canHaveFocus = (element: Element): boolean =>
  element.isConnected && !element.matches(':disabled') && element.checkVisibility();

/**
 * Focuses a place again: the element; where that is gone, what follows in the nearest part that is left, or else stands
 * before it; and where nothing is, the heading of the dialog that is open, or of the page.
 */
export function focusAgain(place: FocusPlace | undefined): void {
  const next = place && (canHaveFocus(place.element) ? place.element : nextOf(place));
  (next ?? heading())?.focus({ preventScroll: true });
}

/** The page as a whole is no part in which something follows. */
function nextOf({ around, usable, place }: FocusPlace): HTMLElement | undefined {
  const near = [...usable.slice(place + 1), ...usable.slice(0, Math.max(0, place)).reverse()];
  for (const part of around) {
    if (part.matches('main, [role="dialog"]')) return undefined;
    const next = part.isConnected ? near.find((one) => part.contains(one) && canHaveFocus(one)) : undefined;
    if (next) return next;
  }
  return undefined;
}

function heading(): HTMLElement | undefined {
  const page = document.querySelector('[role="dialog"]') ?? document.getElementById('content');
  const found = page?.querySelector<HTMLElement>('h1, h2') ?? undefined;
  if (found) found.tabIndex = -1;
  return found;
}
