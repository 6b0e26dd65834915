/**
 * Whether somebody was signed in when this browser was here last, and did not sign out: then a session has ended
 * elsewhere, or has run out, and the sign-in says so. public/theme.js reads it as well.
 */
const NAME = 'signed-in';

/** How the address of the sign-in says it. */
export const SESSION_ENDED = 'session_ended';

/** Somebody is signed in here. */
export function noteSignedIn(): void {
  try {
    localStorage.setItem(NAME, 'yes');
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

export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(NAME) !== null;
  } catch {
    return false;
  }
}
