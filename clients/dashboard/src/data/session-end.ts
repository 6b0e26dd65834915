/**
 * Whether somebody was signed in when this browser was here last, and did not sign out: then a session has ended
 * elsewhere, or has run out, and the sign-in says so. public/theme.js reads it as well.
 */
const NAME = 'signed-in';
const CLOSING = 'account_closing';
const SESSION_ENDED = 'session_ended';

/** Somebody is signed in here. @param isClosing their account is being closed, which ends all sessions */
export function noteSignedIn(isClosing: boolean): void {
  try {
    localStorage.setItem(NAME, isClosing ? CLOSING : 'yes');
  } catch {
    // Without storage the sign-in gives no reason.
  }
}

/** They have signed out, or were told that their session is over. */
export function noteSignedOut(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // Without storage nothing was noted.
  }
}

/** Why who was signed in is not any more, as the address of the sign-in says it; undefined where nobody was. */
export function endReason(): string | undefined {
  try {
    const noted = localStorage.getItem(NAME);
    return noted === null ? undefined : noted === CLOSING ? CLOSING : SESSION_ENDED;
  } catch {
    return undefined;
  }
}
