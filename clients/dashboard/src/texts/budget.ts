import { texts } from './texts.js';

/** The budget of a month. */
export const budgetTexts = texts({
  lead: 'How much your rentals may cost in a month. API keys can have caps of their own.',
  keys: 'Caps of API keys',
  title: (month: string) => `Budget for ${month}`,
  none: 'No budget set',
  noneWhy: 'Without one, your balance is the only limit.',
  spent: 'Spent',
  reserved: 'Reserved',
  reservedNote: 'What rentals with a limit may still cost',
  left: 'Left',
  over: 'Over the budget',
  of: (amount: string) => `of ${amount}`,
  bar: 'Spent of the budget',
  percent: (share: string) => `${share} spent`,
  told: (marks: string) => `We tell you at ${marks}, by email and here.`,
  next: (day: string) => `It resets on ${day} (UTC).`,
  hard: 'Hard',
  soft: 'Alerts only',
  settings: 'Settings',
  amount: 'Monthly budget',
  amountHint: 'Leave empty for no budget.',
  notMoney: 'Enter an amount in dollars, such as 250 or 99.50.',
  outside: (least: string, most: string) => `Enter an amount from ${least} to ${most}.`,
  how: 'When the budget is reached',
  softLabel: 'Tell me',
  softHint: 'Machines keep running, and you can rent more.',
  hardLabel: 'Never go over it',
  hardHint:
    'Each rental reserves the most it may cost. We refuse one that does not fit, and set a limit on one that has none. To loosen this later, you need a code that we email you.',
  save: 'Save',
  saved: 'Budget saved',
  unlimitedTitle: 'Some rentals have no limit yet',
  unlimited:
    'A hard budget needs a spending limit on each running machine. Set one for these first, or stop them:',
  rentals: 'See your rentals',
});
