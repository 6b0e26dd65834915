import { portsClosedMail } from '../../../domain/mails/rentals.js';
import { isWhole, type Whole } from './whole.js';

const rentalId = 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const reason = 'A page there asked for passwords of a bank.';

const mails: readonly Whole[] = [
  [
    'tells that public ports were closed, and what that ended',
    portsClosedMail({ rentalId, name: 'shop', ports: ['web', 'api'], reason }),
    'We closed public ports of yours and stopped a rental',
    [
      `We closed the public ports of shop (${rentalId}): web, api.`,
      reason,
      '',
      'Its provider can’t close a port while the machine runs, so we stopped the rental.',
      'The machine and everything on it are gone. You pay until it was stopped.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
];

describe('mails about rentals', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
