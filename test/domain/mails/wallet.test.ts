import { lowBalanceMail, rentalsRefundedMail, walletChangedMail } from '../../../domain/mails/wallet.js';
import { isWhole, type Whole } from './whole.js';

const refunded = { rentalId: 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const, cents: 60 };

const mails: readonly Whole[] = [
  [
    'warns of a low balance',
    lowBalanceMail({ totalCents: 1_999, burnCents: 3_992 }),
    'Your balance is running low',
    [
      'Your wallet holds $19.99, and your machines cost $39.92 an hour:',
      'that lasts for about 30 minutes. When it is used up, your machines are stopped.',
      '',
      'Top up the wallet to keep them running.',
    ],
  ],
  [
    'tells what an operator gave',
    walletChangedMail({ amountCents: 500, reason: 'Sorry for the outage' }),
    '$5.00 was added to your wallet',
    ['Sorry for the outage', '', 'If you did not expect this, answer to support.'],
  ],
  [
    'tells what an operator took',
    walletChangedMail({ amountCents: -500, reason: 'Credited twice' }),
    '$5.00 was taken from your wallet',
    ['Credited twice', '', 'If you did not expect this, answer to support.'],
  ],
  [
    'tells what was given back for a rental',
    rentalsRefundedMail('Sorry for the outage', [refunded]),
    '$0.60 was added to your wallet',
    [
      'Sorry for the outage',
      '',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  $0.60',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
  [
    'names 50 rentals, and counts the others',
    rentalsRefundedMail(
      'Sorry for the outage',
      Array.from({ length: 52 }, () => refunded),
    ),
    '$31.20 was added to your wallet',
    [
      'Sorry for the outage',
      '',
      ...Array.from({ length: 50 }, () => 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  $0.60'),
      'and 2 more: see your ledger',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
];

describe('mails about the wallet', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
