import { texts } from './texts.js';

/** An address that leads nowhere. */
export const notFoundTexts = texts({
  title: 'Page not found',
  text: 'The address is wrong, or this belongs to another account.',
  home: 'Go to the overview',
});
