import { texts } from './texts.js';

/** What is shown once. */
export const onceTexts = texts({
  done: 'Done',
  notSaved: 'You have not saved it yet',
  closeAnyway: 'Close anyway',
});
