import { texts } from './texts.js';

/** The question whether it is still the same person at the screen. */
export const freshProofTexts = texts({
  title: 'Confirm that it is you',
  why: 'What you are about to do needs a sign-in less than 15 minutes old.',
  mailing: 'We are emailing you a code.',
  mailed: (email: string) => `We emailed a six-digit code to ${email}.`,
  mailedBefore: 'Use the last code we emailed you, or wait and ask for another.',
  notMailed: 'We did not send a code',
  code: 'Code from the email',
  resend: 'Email another code',
  resendIn: (time: string) => `Another code in ${time}`,
  confirm: 'Confirm',
  cancelled: 'You did not confirm that it is you, so nothing has changed.',
  cancelledStep: 'Try again when you can open your email.',
});
