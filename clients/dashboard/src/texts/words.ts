import { texts } from './texts.js';

/** What a renter says about a rental in their own words, where it is entered. */
export const wordTexts = texts({
  rentTitle: 'Name and labels',
  edit: 'Edit details',
  labels: 'Labels',
  labelsFixed: 'You can’t change the labels of an ended rental, because statements group by them.',
  /** Of the words that are a text each, by their names in the API. */
  fields: {
    name: { label: 'Name', hint: 'Only you see it. At most 64 characters.', placeholder: 'training run 7' },
    notes: { label: 'Notes', hint: 'Only you see them. At most 500 characters.', placeholder: '' },
  },
});

export type TextWord = keyof typeof wordTexts.fields;
export const textWords = Object.keys(wordTexts.fields) as readonly TextWord[];
