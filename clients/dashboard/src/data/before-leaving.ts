/**
 * What this tab waits for when it comes back from a page of the payment processor, which leads back to a fixed address.
 * The ids are no secrets, and are gone with the tab.
 */
const TOPUP = 'awaited-topup';
const CARD = 'card-before';
const FORM = 'left-form';

/** Notes which payment the browser leaves for. */
export const noteTopup = (topupId: string): void => note(TOPUP, topupId);
/** The payment for which this tab left; undefined where nothing is known. */
export const notedTopup = (): string | undefined => noted(TOPUP);

/** Notes which card was saved before another one is entered: an empty text stands for none. */
export const noteCard = (pmId: string): void => note(CARD, pmId);
/** The card that was saved before; an empty text: none was; undefined where nothing is known. */
export const notedCard = (): string | undefined => noted(CARD);

/** A form of Rent, with what was chosen in it: the search part of its address. */
interface LeftForm {
  readonly familyId: string;
  readonly search: object;
  /** Own software was typed, which is not noted: it may hold secrets. */
  readonly hasSoftware: boolean;
}

/** Notes which form is left for money. */
export const noteForm = (form: LeftForm): void => note(FORM, JSON.stringify(form));

/** The form that was left for money; undefined for none. */
export function notedForm(): LeftForm | undefined {
  const { familyId, search, hasSoftware } = Object(JSON.parse(noted(FORM) ?? '{}')) as Partial<LeftForm>;
  return typeof familyId === 'string'
    ? { familyId, search: Object(search) as object, hasSoftware: hasSoftware === true }
    : undefined;
}

/** Forgets the form of a family, which has rented. */
export function forgetFormOf(familyId: string): void {
  if (notedForm()?.familyId === familyId) forgetForm();
}

/** Forgets the form: somebody else comes. */
export function forgetForm(): void {
  try {
    sessionStorage.removeItem(FORM);
  } catch {
    // Without storage there is none.
  }
}

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
