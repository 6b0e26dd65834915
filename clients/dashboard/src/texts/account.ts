import { closingWaitsAtMostDays } from '@gpu-rental/client';
import { plural, texts } from './texts.js';

/** The account as a whole: closing it. */
export const accountTexts = texts({
  lead: 'Download your data or close your account.',
  close: {
    title: 'Close your account',
    text: 'Your machines stop, the money that you paid in and did not use goes back to your cards, and we erase your personal data. You can’t undo this.',
    open: 'Close your account',
    question: 'Close your account?',
    questionText: 'You can’t undo this. Amounts are as of now.',
    machines: (count: number) =>
      plural(count, {
        one: '1 machine stops at once. Everything on its disk is lost.',
        other: `${count} machines stop at once. Everything on their disks is lost.`,
      }),
    ends: 'Your API keys stop working, and you can’t rent or add money.',
    unsettled: (invoices: number, disputes: number) =>
      `${openWords(invoices, disputes)} ${invoices + disputes === 1 ? 'keeps' : 'keep'} your account open for up to ${closingWaitsAtMostDays} days.`,
    returns: 'Your money goes back:',
    noReturns: 'There is no money to give back.',
    lapses: (amount: string) => `${amount} that we gave you lapses.`,
    erases:
      'Then we erase your personal data: address, names, keys, cards and emails. Accounting records that the law requires stay under your account’s number.',
    address: (email: string) => `Type ${email} to confirm`,
    confirm: 'Close for good',
  },
  to: (amount: string, card: string) => `${amount} to ${card}`,
  closing: {
    title: 'Your account is being closed',
    text: 'You can’t undo this. Until your personal data is erased, you can sign in and see here how far it is.',
    now: 'Now',
    since: 'Since',
    waits: 'Waiting for',
    machines: 'Machines still shutting down',
    returns: 'Back to you',
    lapses: 'Expired or used for what you owed',
    states: {
      stopping: 'We are stopping whatever still runs.',
      settling: 'We are waiting for open invoices, disputes and payments.',
      returning: 'Your money goes back.',
      erasing: 'We are erasing your personal data.',
      kept: 'Your personal data is erased. We are checking for late records.',
      closed: 'It is closed.',
    },
    statuses: { planned: 'Planned', sent: 'Sent', refused: 'Not taken back' },
  },
  closed: {
    title: 'You can’t rent or add money',
    text: 'Your account is being closed.',
  },
});

function openWords(invoices: number, disputes: number): string {
  return [
    ...(invoices === 0
      ? []
      : [`${invoices} open ${plural(invoices, { one: 'invoice', other: 'invoices' })}`]),
    ...(disputes === 0
      ? []
      : [`${disputes} open ${plural(disputes, { one: 'dispute', other: 'disputes' })}`]),
  ].join(' and ');
}
