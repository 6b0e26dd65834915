import { texts } from './texts.js';

/** The labels of a rental, where they are entered. */
export const labelTexts = texts({
  title: 'Labels',
  hint: 'Statements can group by label. At most 10.',
  key: (place: number) => `Key of label ${place}`,
  value: (place: number) => `Value of label ${place}`,
  keyPlaceholder: 'project',
  valuePlaceholder: 'training',
  add: 'Add a label',
  remove: (place: number) => `Remove label ${place}`,
  keyError: 'Use 1 to 63 characters of a-z, 0-9, “_”, “.” and “-”, starting with a letter or digit.',
  twiceError: 'You already used this key.',
});
