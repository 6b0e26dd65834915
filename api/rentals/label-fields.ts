import { labelKeyPattern, readLabel, type Label, type Labels } from '../../domain/rentals/labels.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import type { JsonSchema } from '../http/openapi/json-schema.js';
import { joi, readAs } from '../http/fields.js';

/** What `joi.text()` accepts. */
const textPattern = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

const { labelsMax, labelValueMaxChars } = rentalLimits;

/** What a label's key may be, in words. */
const keyWords = `a key has 1 to 63 characters of a-z, 0-9, "_", "." and "-", and starts with a letter or digit`;

/** Labels as a rental shows them (decision 105, "Changed rentals"). */
export const labelsShown: JsonSchema<Labels> = {
  type: 'object',
  description: 'Your own words, which statements can group by; fixed after the final bill.',
  maxProperties: labelsMax,
  propertyNames: { pattern: labelKeyPattern.source },
  additionalProperties: { type: 'string', maxLength: labelValueMaxChars },
};

/** The labels that a request sends. */
export const labelsField = joi
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
      additionalProperties: { type: 'string', maxLength: labelValueMaxChars, pattern: textPattern },
    },
  });

/** The filter of lists by one label: `key:value`. */
export const labelFilter = readAs<Label>(
  joi.text(),
  (text, helpers) =>
    readLabel(text) ??
    helpers.message({ custom: '{{#label}} must be a key and a value, such as team:research' }),
).meta({
  jsonSchema: {
    pattern: String.raw`^[a-z0-9][a-z0-9_.-]{0,62}:[^\u0000-\u001f\u007f-\u009f]*$`,
    description: 'Only rentals with this label, as key:value.',
    examples: ['team:research'],
  },
});
