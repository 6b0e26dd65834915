import { texts } from './texts.js';

/** The sign-in. */
export const loginTexts = texts({
  lead: 'GPU machines by the second, paid from a prepaid wallet.',
  leadTo: (family: string) => `Sign in to rent ${family}. New here? Your email address is all you need.`,
  prices: 'GPUs you can rent now',
  fromPrice: (perHour: string) => `from ${perHour}/h`,
  email: 'Email address',
  emailHint: 'We email you a code. If you are new, this creates your account.',
  emailMissing: 'Enter your email address, such as ada@example.com.',
  sendCode: 'Email me a code',
  haveCode: 'I have a code',
  or: 'or',
  with: (provider: string) => `Continue with ${provider}`,
  providersFailed: 'We could not load other ways to sign in.',
  codeTitle: 'Enter the code',
  codeSent: (mail: string) => `We sent a code to ${mail}. It may take a minute; check your spam folder, too.`,
  codeFor: (mail: string) => `Enter the six digits of the last email to ${mail}.`,
  code: 'Six-digit code',
  codeHint: 'Spaces and dashes do not matter.',
  signIn: 'Sign in',
  otherEmail: 'Use another address',
  resend: 'Email another code',
  resendIn: (left: string) => `Another code in ${left}`,
  resent: 'We sent another code. Only the newest one works.',
  notMailed: 'We did not send a code',
  notSignedIn: 'You are not signed in yet',
  httpsTitle: 'Use https',
  https: 'You can only sign in on an encrypted page, and this one came over plain http.',
  toHttps: 'Open the page with https',
  faults: {
    session_ended: {
      title: 'You have been signed out',
      text: 'Your session expired, or it was ended on another device. Sign in to go on where you were.',
    },
    account_closing: {
      title: 'You have been signed out',
      text: 'Your account is being closed, or closed by now. Once it is, signing in creates a new one.',
    },
    oauth_denied: {
      title: 'The sign-in was cancelled',
      text: 'Nothing was shared. Try again, or get a code by email.',
    },
    oauth_no_email: {
      title: 'That account has no verified email address',
      text: 'Verify the address there, or get a code by email here.',
    },
    oauth_provider_unavailable: {
      title: 'The other service does not answer',
      text: 'Try again in a moment, or get a code by email.',
    },
    oauth_failed: {
      title: 'The sign-in was not completed',
      text: 'Try again, or get a code by email.',
    },
    oauth_confirm: {
      title: 'Is this account yours?',
      text: 'An account with this email address already exists. Enter the code that we emailed to it. You do this only once.',
    },
    other: {
      title: 'The sign-in did not work',
      text: 'Try again, or get a code by email.',
    },
  },
});
