import { plural, texts } from './texts.js';

/** For how long debts and disputes keep an account open, in days. */
export const WAITS_AT_MOST_DAYS = 35;

/** The account as a whole: closing it. */
export const accountTexts = texts({
  lead: 'What concerns your account as a whole.',
  close: {
    title: 'Close your account',
    text: 'Your machines stop, the money that you paid in and did not use goes back to your cards, and we erase you. You can’t undo this.',
    open: 'Close your account',
    question: 'Close your account?',
    questionText: 'You can’t undo this. Amounts are as of now.',
    machines: (count: number) =>
      plural(count, {
        one: '1 machine stops at once. Everything on its disk is lost.',
        other: `${count} machines stop at once. Everything on their disks is lost.`,
      }),
    ends: 'Your API keys end, and nothing new can begin.',
    unsettled: (invoices: number, disputes: number) =>
      `${openWords(invoices, disputes)} ${invoices + disputes === 1 ? 'keeps' : 'keep'} it open, for up to ${WAITS_AT_MOST_DAYS} days.`,
    returns: 'Your money goes back:',
    noReturns: 'There is no money to give back.',
    lapses: (amount: string) => `${amount} that we gave you lapses.`,
    erases:
      'Then we erase you: address, names, keys, cards and emails. What bookkeeping law asks for stays under your account’s number.',
    address: (email: string) => `Type ${email} to confirm`,
    confirm: 'Close for good',
  },
  to: (amount: string, card: string) => `${amount} to ${card}`,
  closing: {
    title: 'Your account is being closed',
    text: 'You can’t undo this. Until we have erased you, you can sign in and see here how far it is.',
    now: 'Now',
    since: 'Since',
    waits: 'Waits for',
    machines: 'Machines not gone yet',
    returns: 'Back to you',
    lapses: 'Lapsed or set off',
    states: {
      stopping: 'Your machines are ending.',
      settling: 'We wait for what is unsettled.',
      returning: 'Your money goes back.',
      erasing: 'You are being erased.',
      kept: 'You are erased. We wait for what comes late.',
      closed: 'It is closed.',
    },
    waitsFor: {
      rentals: 'machines that are ending',
      topups: 'payments that are being decided',
      invoices: 'open invoices',
      disputes: 'open disputes',
      parked_payments: 'payments that we look into',
      refunds: 'refunds that are on their way',
      refused_refunds: 'us: no card takes the money back',
      processor: 'the payment processor',
      installation_key: 'us',
      late_events: 'what comes late',
    },
    statuses: { planned: 'Planned', sent: 'Sent', refused: 'Refused by the bank' },
  },
  closed: {
    title: 'Nothing new can begin',
    text: 'Your account is being closed, so you can neither rent nor add money.',
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
