import { texts } from './texts.js';

/** The labels of a rental, where they are entered. */
export const labelTexts = texts({
  title: 'Labels',
  hint: 'Statements add up by these. At most 10.',
  key: (place: number) => `Key of label ${place}`,
  value: (place: number) => `Value of label ${place}`,
  keyPlaceholder: 'project',
  valuePlaceholder: 'training',
  add: 'Add a label',
  remove: (place: number) => `Remove label ${place}`,
  keyError: 'A key is 1 to 63 of a-z, 0-9, “_”, “.” and “-”, and begins with a letter or a digit.',
  twiceError: 'This key stands here twice.',
});
