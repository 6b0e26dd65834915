import { plural, texts } from './texts.js';

/** Changing the limits of a rental. */
export const limitFormTexts = texts({
  worst: (amount: string) => `It will cost ${amount} at most.`,
  worstNone: 'Without limits it can use up your whole balance.',
  endsNow: 'It has already reached this limit and will stop at once. You pay for it until then.',
  stopField: 'Stop at',
  stopHint: 'In your time zone. Leave empty for no limit.',
  stopHintEarly: 'In your time zone. Leave empty to keep the limit you set.',
  stopError: 'Enter a day and a time',
  extend: 'Extend by',
  hours: (hours: number) => plural(hours, { one: '1 hour', other: `${hours} hours` }),
  spendField: 'Spending limit',
  spendHint: 'In dollars. Leave empty for no limit.',
  spendError: 'Enter an amount such as 25 or 12.50',
  save: 'Save limits',
  saved: 'Limits changed',
  ended: 'This rental is ending or has ended, so you can’t change its limits.',
});
