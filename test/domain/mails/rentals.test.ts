import { portsClosedMail } from '../../../domain/mails/rentals.js';
import { isWhole, type Whole } from './whole.js';

const rentalId = 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const reason = 'A page there asked for passwords of a bank.';
const subject = 'We closed your rental’s public ports and stopped it';

const mails: readonly Whole[] = [
  [
    'tells that public ports were closed, and what that ends',
    portsClosedMail({ rentalId, name: 'shop', ports: ['web', 'api'], reason, isBilled: true }),
    subject,
    [
      `We are closing the public ports of shop (${rentalId}): web, api.`,
      reason,
      '',
      'Its provider can’t close a port while the machine runs, so we stopped the rental.',
      'The machine is being ended, and everything on it is lost. You pay until it was stopped.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'speaks of no bill where billing had not begun',
    portsClosedMail({ rentalId, name: null, ports: ['web'], reason, isBilled: false }),
    subject,
    [
      `We are closing the public ports of ${rentalId}: web.`,
      reason,
      '',
      'Its provider can’t close a port while the machine runs, so we stopped the rental.',
      'The machine is being ended, and everything on it is lost.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
];

describe('mails about rentals', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
