/**
 * What this tab waits for when it comes back from a page of the payment processor, which leads back to a fixed address.
 * The ids are no secrets, and are gone with the tab.
 */
const TOPUP = 'awaited-topup';
const CARD = 'card-before';

/** Notes which payment the browser leaves for. */
export const noteTopup = (topupId: string): void => note(TOPUP, topupId);
/** The payment for which this tab left; undefined where nothing is known. */
export const notedTopup = (): string | undefined => noted(TOPUP);

/** Notes which card was saved before another one is entered: an empty text stands for none. */
export const noteCard = (pmId: string): void => note(CARD, pmId);
/** The card that was saved before; an empty text: none was; undefined where nothing is known. */
export const notedCard = (): string | undefined => noted(CARD);

function note(name: string, value: string): void {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // Without storage the newest payment, and any card, is what was waited for.
  }
}

function noted(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}
