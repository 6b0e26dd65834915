import { texts } from './texts.js';

/** Failures of any page. */
export const errorTexts = texts({
  title: 'That did not work',
  noAnswer: 'The service did not answer.',
  noAnswerStep: 'Check your connection and try again. We never charge you twice.',
  unknown: 'Something went wrong on this page.',
  unknownStep: 'Reload the page. If it happens again, tell support what you did.',
  support: 'Support:',
  requestId: (id: string) => `Request ${id}`,
  retryIn: (time: string) => `Try again in ${time}`,
  retry: 'Try again',
  steps: {
    temporarily_unavailable: 'We will be back shortly. Try again in a moment.',
    rate_limited: 'Wait a moment, then try again.',
    insufficient_balance: 'Add money, then try again.',
  },
});
