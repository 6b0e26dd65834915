import { texts } from './texts.js';

/** The document on which a card is entered. */
export const cardTexts = texts({
  title: 'Save a card',
  back: 'Back to billing',
  lead: 'Nothing is charged now.',
  trust:
    'The number goes straight to the payment processor. This service never sees it, and keeps the last four digits.',
  consent:
    'By saving the card you allow this service to charge it for top-ups that you ask for, and for automatic top-ups while you have them switched on. You can remove it at any time.',
  loading: 'Getting the form of the payment processor…',
  elsewhere: 'Opening the page that takes the card…',
  goThere: 'Go there now',
  save: 'Save this card',
  saving: 'Saving…',
  signInTitle: 'Sign in first',
  signIn: 'Your sign-in has ended. Sign in, and begin again.',
  goToSignIn: 'Sign in',
  disabledTitle: 'Payments are switched off here',
  disabled: 'This installation takes no cards. Ask whoever runs it how to pay.',
  scriptTitle: 'The payment processor’s form did not load',
  script: 'Check your connection, and that nothing in your browser blocks js.stripe.com. Then try again.',
  retry: 'Try again',
  failedTitle: 'The card was not saved',
  failed: 'The payment processor did not take it. Try again, or use another card.',
});
