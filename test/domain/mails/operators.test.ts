import {
  chargeMarkMail,
  findingsMail,
  dearerMachinesMail,
  noFundsMail,
  unfitAccountMail,
  badMachineMail,
  refundLimitMail,
} from '../../../domain/mails/operators.js';
import { isWhole, type Whole } from './whole.js';

const rentalId = 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const userId = 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const finding = (id: number) => ({ id, kind: 'charge_without_entry', subject: `pi_${id}` });
const gap = {
  source: 'pods:runpod',
  since: new Date('2026-01-02T03:04:05.678Z'),
  why: 'the upstream does not answer',
};

const mails: readonly Whole[] = [
  [
    'tell of a dispute',
    chargeMarkMail({ id: 'dp_1', kind: 'dispute', chargeId: 'ch_1', fingerprint: 'fp_1' }, [
      userId,
      'usr_00000000000000000000000000',
    ]),
    'A payment is disputed: dp_1',
    [
      'dp_1 is about charge ch_1, made with the card fp_1.',
      'We no longer charge these users automatically: usr_01ARZ3NDEKTSV4RRFFQ69G5FAV, usr_00000000000000000000000000.',
      '',
      'Check them. If it is fraud, refund what is unspent. If it is not, lift the mark:',
      'npm run ops -- marks lift dp_1 --by … --reason …',
    ],
  ],
  [
    'tell of a warning of fraud',
    chargeMarkMail({ id: 'issfr_1', kind: 'early_fraud_warning', chargeId: 'ch_1', fingerprint: null }, []),
    'A bank warns of fraud: issfr_1',
    [
      'issfr_1 is about charge ch_1, made with the card (fingerprint unknown).',
      'We no longer charge these users automatically: none, because nobody has saved this card.',
      '',
      'Check them. If it is fraud, refund what is unspent. If it is not, lift the mark:',
      'npm run ops -- marks lift issfr_1 --by … --reason …',
    ],
  ],
  [
    'tell of an account with too many refunds',
    refundLimitMail({ rentalId, userId, provider: 'runpod' }),
    'Daily limit of automatic refunds reached: usr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    [
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV of usr_01ARZ3NDEKTSV4RRFFQ69G5FAV was lost at runpod within a minute of starting.',
      'We charged it for its time, because the account already had 5 full refunds in 24 hours.',
      'Check the others: npm run ops -- users find usr_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'If a refund is due: npm run ops -- wallet refund --user usr_01ARZ3NDEKTSV4RRFFQ69G5FAV --rental rent_01ARZ3NDEKTSV4RRFFQ69G5FAV --amount-cents … --reason …',
    ],
  ],
  [
    'tell of a machine that calls itself bad',
    badMachineMail({
      rentalId,
      userId,
      provider: 'vast',
      faults: ['It shows 1 of 2 GPUs.'],
      isConfirmed: false,
    }),
    'A machine at vast says it is bad: rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    [
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV of usr_01ARZ3NDEKTSV4RRFFQ69G5FAV was ended, because its machine reported: It shows 1 of 2 GPUs.',
      'Only the machine says so, and its renter can make it say anything. So the bill stands.',
      'Look at it: npm run ops -- rentals show rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'If a refund is due: npm run ops -- wallet refund --user usr_01ARZ3NDEKTSV4RRFFQ69G5FAV --rental rent_01ARZ3NDEKTSV4RRFFQ69G5FAV --amount-cents … --reason …',
    ],
  ],
  [
    'tell of an upstream where our account is empty',
    noFundsMail({ provider: 'runpod', message: 'refused: 402 Payment Required' }),
    'Our account at runpod is out of money',
    [
      'It refused a machine: refused: 402 Payment Required',
      'Top up the account there. We offer none of its machines until it sells to us again, and try every few minutes.',
      'To see its state: npm run ops -- providers',
    ],
  ],
  [
    'tell of an account that nothing may be rented with',
    unfitAccountMail({ provider: 'vast', message: 'refused: the account has 1 SSH keys' }),
    'Our account at vast can’t be used',
    [
      'We offer none of its machines: refused: the account has 1 SSH keys',
      'Fix it in the provider’s console. We check every few minutes, and offer its machines again once it works.',
      'To see its state: npm run ops -- providers',
    ],
  ],
  [
    'tell of machines that have become dearer',
    dearerMachinesMail({
      provider: 'vast',
      machines: 21,
      lossCents: 1_050,
      dearest: [{ rentalId, costCents: 250, agreedCents: 200 }],
    }),
    'Machines at vast cost more than their renters pay',
    [
      'We lose $10.50 an hour: these were rented for less than they cost now, and each rental keeps its price. If the provider has raised its prices, ask it why.',
      '',
      `${rentalId}  costs $2.50 an hour  rented for $2.00`,
      '… and 20 more.',
      '',
      'To end one: npm run ops -- rentals stop rent_… --by … --reason …',
      'To rent nothing there meanwhile: npm run ops -- providers pause vast --by … --reason …',
    ],
  ],
  [
    'tell of one finding',
    findingsMail([finding(1)], []),
    'Reconcile: 1 new finding',
    [
      'Our books, the payment processor and the upstreams do not agree:',
      '',
      '1  charge_without_entry  pi_1',
      '',
      'All findings with their evidence: npm run ops -- findings',
      'What each kind means and what to do: docs/operations/findings.md',
    ],
  ],
  [
    'spell out 20 findings, count the others, and name what was not compared',
    findingsMail(
      Array.from({ length: 22 }, (_, at) => finding(at + 1)),
      [gap],
    ),
    'Reconcile: 22 new findings',
    [
      'Our books, the payment processor and the upstreams do not agree:',
      '',
      '1  charge_without_entry  pi_1',
      '2  charge_without_entry  pi_2',
      '3  charge_without_entry  pi_3',
      '4  charge_without_entry  pi_4',
      '5  charge_without_entry  pi_5',
      '6  charge_without_entry  pi_6',
      '7  charge_without_entry  pi_7',
      '8  charge_without_entry  pi_8',
      '9  charge_without_entry  pi_9',
      '10  charge_without_entry  pi_10',
      '11  charge_without_entry  pi_11',
      '12  charge_without_entry  pi_12',
      '13  charge_without_entry  pi_13',
      '14  charge_without_entry  pi_14',
      '15  charge_without_entry  pi_15',
      '16  charge_without_entry  pi_16',
      '17  charge_without_entry  pi_17',
      '18  charge_without_entry  pi_18',
      '19  charge_without_entry  pi_19',
      '20  charge_without_entry  pi_20',
      '… and 2 more.',
      '',
      'Not compared: pods:runpod since 2026-01-02T03:04:05.678Z (the upstream does not answer)',
      'All findings with their evidence: npm run ops -- findings',
      'What each kind means and what to do: docs/operations/findings.md',
    ],
  ],
];

describe('mails to operators', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
