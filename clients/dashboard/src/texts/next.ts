import { texts } from './texts.js';

/** What comes after a step towards the first machine. */
export const nextTexts = texts({
  addMoney: 'Next: add money',
  rent: 'Next: rent a machine',
  rentThat: (family: string) => `Go on renting ${family}`,
});
