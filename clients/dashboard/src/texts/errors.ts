import { texts } from './texts.js';

/** Failures of any page. */
export const errorTexts = texts({
  title: 'That did not work',
  noAnswer: 'The service did not answer.',
  noAnswerStep: 'Check your connection and try again. Nothing runs on unpaid, and nothing is charged twice.',
  unknown: 'Something went wrong in this page.',
  unknownStep: 'Load the page again. If it stays, tell support what you did.',
  requestId: (id: string) => `Request ${id}`,
  retryIn: (seconds: string) => `Try again in ${seconds} s`,
  retry: 'Try again',
  notFoundTitle: 'There is nothing here',
  notFound: 'The address leads nowhere, or what stood here belongs to another account.',
  home: 'Go to the overview',
  steps: {
    temporarily_unavailable: 'The service is about to be back. Try again in a moment.',
    rate_limited: 'Wait a moment, then try again.',
    insufficient_balance: 'Add money, then try again.',
  },
});
