import {
  autoTopupApprovalMail,
  invoiceGivenUpMail,
  invoiceOpenedMail,
  invoicePaidMail,
  invoiceReminderMail,
} from '../../../domain/mails/invoices.js';
import { isWhole, type Whole } from './whole.js';

const open = {
  amountCents: 1_234,
  dueAt: new Date('2026-01-02T03:04:05.678Z'),
  payUrl: 'https://pay.example.com/in_1',
};
const lines = [
  { description: "Usage of 8 x h100 beyond the wallet's balance", amountCents: 1_000 },
  { description: 'What is owed', amountCents: 234 },
];
const paid = {
  invoiceId: 'inv_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const,
  amountCents: 1_234,
  receiptUrl: 'https://pay.example.com/r_1',
};

const mails: readonly Whole[] = [
  [
    'brings an invoice',
    invoiceOpenedMail(open, lines),
    'You have an invoice for $12.34',
    [
      "$10.00: Usage of 8 x h100 beyond the wallet's balance",
      '$2.34: What is owed',
      '',
      'Due: 2026-01-02',
      'Pay here: https://pay.example.com/in_1',
      '',
      'From 2026-01-02 on, you can’t rent machines until it is paid.',
    ],
  ],
  [
    'brings an invoice of which nothing is known yet',
    invoiceOpenedMail({ ...open, dueAt: null, payUrl: null }, []),
    'You have an invoice for $12.34',
    ['', 'Pay here: '],
  ],
  [
    'asks to approve an automatic top-up',
    autoTopupApprovalMail(open),
    'Your bank wants you to approve an automatic top-up',
    [
      'We could not charge your saved card $12.34: your bank wants you to approve the payment.',
      'Automatic top-ups are off until you turn them back on in your billing settings.',
      'Save another card there, or approve and pay this top-up now:',
      '',
      'Due: 2026-01-02',
      'Pay here: https://pay.example.com/in_1',
    ],
  ],
  [
    'reminds of an invoice',
    invoiceReminderMail(open, lines, 1),
    'Reminder: your invoice for $12.34 is unpaid',
    [
      "$10.00: Usage of 8 x h100 beyond the wallet's balance",
      '$2.34: What is owed',
      '',
      'Due: 2026-01-02',
      'Pay here: https://pay.example.com/in_1',
      '',
      'From 2026-01-02 on, you can’t rent machines until it is paid.',
    ],
  ],
  [
    'reminds of an invoice that is due, from when on it blocks',
    invoiceReminderMail(open, lines, 2),
    'Reminder: your invoice for $12.34 is unpaid',
    [
      "$10.00: Usage of 8 x h100 beyond the wallet's balance",
      '$2.34: What is owed',
      '',
      'Due: 2026-01-02',
      'Pay here: https://pay.example.com/in_1',
      '',
      'It is overdue. You can’t rent machines until it is paid.',
    ],
  ],
  [
    'reminds of an invoice for the last time',
    invoiceReminderMail(open, lines, 4),
    'Final reminder: your invoice for $12.34 is unpaid',
    [
      "$10.00: Usage of 8 x h100 beyond the wallet's balance",
      '$2.34: What is owed',
      '',
      'Due: 2026-01-02',
      'Pay here: https://pay.example.com/in_1',
      '',
      'It is overdue. You can’t rent machines until it is paid.',
    ],
  ],
  [
    'tells that an invoice was given up',
    invoiceGivenUpMail(open, lines),
    'We’ve written off your invoice for $12.34',
    [
      "$10.00: Usage of 8 x h100 beyond the wallet's balance",
      '$2.34: What is owed',
      '',
      'You didn’t pay it, and we’ve stopped asking. It no longer keeps you from renting machines.',
      'You can still pay it:',
      '',
      'Pay here: https://pay.example.com/in_1',
    ],
  ],
  [
    'confirms that an invoice was paid',
    invoicePaidMail(paid),
    'Your invoice for $12.34 is paid',
    ['Thank you.', '', 'Invoice: inv_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'Receipt: https://pay.example.com/r_1'],
  ],
  [
    'confirms it without a receipt',
    invoicePaidMail({ ...paid, receiptUrl: null }),
    'Your invoice for $12.34 is paid',
    ['Thank you.', '', 'Invoice: inv_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ],
];

describe('mails about invoices', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
