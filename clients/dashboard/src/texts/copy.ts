import { texts } from './texts.js';

/** What the button that copies says. */
export const copyTexts = texts({
  copied: 'Copied',
  notCopied: 'Your browser blocked copying. Select the text instead.',
});
