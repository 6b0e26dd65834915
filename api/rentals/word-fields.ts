import { labelKeyPattern, readLabel, type Label, type Labels } from '../../domain/rentals/labels.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { notesMaxChars, noWords, wordsOf, type RentalWords } from '../../domain/rentals/words.js';
import { orNull, text, type JsonSchema } from '../http/openapi/json-schema.js';
import { joi, nullable, readAs } from '../http/fields.js';
import { signs, textPattern } from '../http/texts.js';

const { labelsMax, labelValueMaxChars, nameMaxChars } = rentalLimits;

/** What a label's key may be, in words. */
const keyWords = `a key has 1 to 63 characters of a-z, 0-9, "_", "." and "-", and starts with a letter or digit`;

/** Labels as a rental shows them (decision 105, "Changed rentals"). */
const labelsShown: JsonSchema<Labels> = {
  type: 'object',
  description: 'Your own words, which statements can group by; fixed after the final bill.',
  maxProperties: labelsMax,
  propertyNames: { pattern: labelKeyPattern.source },
  additionalProperties: { type: 'string', maxLength: labelValueMaxChars },
};

/** The labels that a request sends. */
const labelsField = joi
  .object<Labels>()
  .pattern(labelKeyPattern, joi.text().allow('').maxChars(labelValueMaxChars))
  .max(labelsMax)
  .messages({
    'object.unknown': `{{#label}} is not a label: ${keyWords}`,
    'object.max': `{{#label}} may be at most ${labelsMax} pairs`,
  })
  .meta({
    jsonSchema: {
      ...labelsShown,
      description: `At most ${labelsMax} pairs of your own words; ${keyWords}.`,
      // Joi's own words for the pairs, in a dialect that not all readers know.
      patternProperties: {},
      additionalProperties: { type: 'string', maxLength: labelValueMaxChars, pattern: textPattern('text') },
    },
  });

/** A text as its whole; an empty one is none. */
const textField = (maxChars: number) => joi.text().allow('').maxChars(maxChars);

const notesField = joi.lines().allow('').maxChars(notesMaxChars);

/** The words with which a rental is asked for (decision 138, "A renter’s own words"). */
export const givenWords = {
  name: textField(nameMaxChars),
  labels: labelsField,
  notes: notesField,
};

/** The words that a change asks for: null takes a text away. */
export const changedWords = {
  ...givenWords,
  name: nullable(textField(nameMaxChars)),
  notes: nullable(notesField),
};

/** The words as a rental shows them. */
export const wordsShown = {
  name: orNull(text),
  labels: labelsShown,
  notes: orNull({
    ...text,
    description: `Your own notes, at most ${notesMaxChars} characters, line breaks included.`,
  }),
};

export const exampleWords = {
  name: 'first',
  labels: { team: 'research' },
  notes: 'Stop it once the loss is below 0.2.',
};

/** The words that a body sends, as they are kept. */
export function readWords(body: Partial<RentalWords>): Partial<RentalWords> {
  const sent = Object.entries(wordsOf(body));
  return Object.fromEntries(sent.map(([name, value]) => [name, value === '' ? null : value]));
}

/** The words of a rental's answer. */
export function presentWords(rental: RentalWords) {
  return { ...noWords, ...wordsOf(rental), labels: rental.labels ?? {} };
}

/** The filter of lists by one label: `key:value`. */
export const labelFilter = readAs<Label>(
  joi.text(),
  (text, helpers) =>
    readLabel(text) ??
    helpers.message({ custom: '{{#label}} must be a key and a value, such as team:research' }),
).meta({
  jsonSchema: {
    pattern: `${labelKeyPattern.source.replace('$', '')}:${signs('text')}*$`,
    description: 'Only rentals with this label, as key:value.',
    examples: ['team:research'],
  },
});
