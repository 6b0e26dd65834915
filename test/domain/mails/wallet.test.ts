import { lowBalanceMail, rentalsRefundedMail, walletChangedMail } from '../../../domain/mails/wallet.js';
import { isWhole, type Whole } from './whole.js';

const refunded = { rentalId: 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const, cents: 60 };

const mails: readonly Whole[] = [
  [
    'warns of a low balance',
    lowBalanceMail({ fundsCents: 1_999, burnCents: 3_992 }),
    'Your balance is running low',
    [
      'You have $19.99 left for your running machines. They cost $39.92 an hour:',
      'enough for about 30 minutes. When your balance runs out, we stop your machines.',
      '',
      'Top up your wallet to keep them running.',
    ],
  ],
  [
    'tells what an operator gave',
    walletChangedMail({ amountCents: 500, reason: 'Sorry for the outage' }),
    'We added $5.00 to your wallet',
    ['Sorry for the outage', '', 'If you did not expect this, contact support.'],
  ],
  [
    'tells what an operator took',
    walletChangedMail({ amountCents: -500, reason: 'Credited twice' }),
    'We took $5.00 from your wallet',
    ['Credited twice', '', 'If you did not expect this, contact support.'],
  ],
  [
    'tells what was given back for a rental',
    rentalsRefundedMail('Sorry for the outage', [refunded]),
    'We added $0.60 to your wallet',
    [
      'Sorry for the outage',
      '',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  $0.60',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'names 50 rentals, and counts the others',
    rentalsRefundedMail(
      'Sorry for the outage',
      Array.from({ length: 52 }, () => refunded),
    ),
    'We added $31.20 to your wallet',
    [
      'Sorry for the outage',
      '',
      ...Array.from({ length: 50 }, () => 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  $0.60'),
      'and 2 more: see your ledger',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
];

describe('mails about the wallet', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
