import { texts } from './texts.js';

/** The question whether it is still the same person at the screen. */
export const freshProofTexts = texts({
  title: 'Confirm that it is you',
  why: 'What you are about to do lets programs into this account, or lets more be spent. It takes a sign-in that is younger than 15 minutes.',
  mailing: 'A code is being mailed to you.',
  mailed: (email: string) => `A code of six digits was mailed to ${email}.`,
  mailedBefore: 'Use the last code that was mailed to you, or wait and ask for another.',
  notMailed: 'No code was mailed',
  code: 'Code from the mail',
  resend: 'Mail another code',
  resendIn: (time: string) => `Another code in ${time}`,
  confirm: 'Confirm',
  cancelled: 'You did not confirm that it is you, so nothing was changed.',
  cancelledStep: 'Try again when you have your mail at hand.',
});
