import { texts } from './texts.js';

/** The sign-in. */
export const loginTexts = texts({
  lead: 'Machines by the second, from a prepaid wallet.',
  email: 'E-mail address',
  emailHint: 'We mail you a code. A new address opens an account.',
  emailMissing: 'Enter your e-mail address, such as ada@example.com.',
  sendCode: 'Mail me a code',
  haveCode: 'I have a code',
  or: 'or',
  with: (provider: string) => `Continue with ${provider}`,
  providersFailed: 'Other ways to sign in could not be shown.',
  codeTitle: 'Enter the code',
  codeSent: (mail: string) => `A code is on its way to ${mail}. It may take a minute; look into spam, too.`,
  codeFor: (mail: string) => `The six digits of the last mail to ${mail}.`,
  code: 'Code of six digits',
  codeHint: 'Spaces and dashes do not matter.',
  signIn: 'Sign in',
  otherEmail: 'Another address',
  resend: 'Mail another code',
  resendIn: (left: string) => `Another code in ${left}`,
  resent: 'Another code was mailed. Only the newest one counts.',
  notMailed: 'No code was mailed',
  notSignedIn: 'You are not signed in yet',
  httpsTitle: 'Use https',
  https: 'Your sign-in is kept only on an encrypted page, and this one came by plain http.',
  toHttps: 'Open the page by https',
  faults: {
    oauth_denied: {
      title: 'The sign-in was cancelled',
      text: 'Nothing was shared. Try again, or have a code mailed.',
    },
    oauth_no_email: {
      title: 'That account has no verified e-mail address',
      text: 'Verify the address there, or have a code mailed to it here.',
    },
    oauth_provider_unavailable: {
      title: 'The other service does not answer',
      text: 'Try again in a moment, or have a code mailed.',
    },
    oauth_failed: {
      title: 'The sign-in did not come to an end',
      text: 'Try again, or have a code mailed.',
    },
    oauth_confirm: {
      title: 'Is this account yours?',
      text: 'There is an account of this address already. Enter the code that was mailed to it, once, in this browser.',
    },
    other: {
      title: 'The sign-in did not work',
      text: 'Try again, or have a code mailed.',
    },
  },
});
