import { texts } from './texts.js';

/** What is shown once. */
export const onceTexts = texts({
  done: 'Done',
  notSaved: 'It is not saved yet',
  closeAnyway: 'Close without it',
});
