import { texts } from './texts.js';

/** The document on which a card is entered. */
export const cardTexts = texts({
  title: 'Save a card',
  back: 'Back to billing',
  lead: 'You are not charged now.',
  trust:
    'The number goes straight to the payment processor. We never see it, and keep only the last four digits.',
  consent:
    'By saving the card you allow this service to charge it for top-ups that you ask for, and for automatic top-ups while you have them turned on. You can remove it at any time.',
  loading: 'Loading the payment processor’s form…',
  elsewhere: 'Opening the card page…',
  goThere: 'Go there now',
  save: 'Save this card',
  saving: 'Saving…',
  signInTitle: 'Sign in first',
  signIn: 'Your session has ended. Sign in, then start again.',
  goToSignIn: 'Sign in',
  disabledTitle: 'Payments are turned off here',
  disabled: 'This installation takes no cards. Ask whoever runs it how to pay.',
  scriptTitle: 'The payment processor’s form did not load',
  script: 'Check your connection, and that your browser does not block js.stripe.com. Then try again.',
  retry: 'Try again',
  failedTitle: 'The card was not saved',
  failed: 'The payment processor did not accept it. Try again, or use another card.',
});
