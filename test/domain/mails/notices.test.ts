import assert from 'node:assert/strict';
import { noticeMail } from '../../../domain/mails/notices.js';
import { isWhole, type Whole } from './whole.js';

const rentalId = 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const keyId = 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const url = 'https://api.example.com/v1/notices/unsubscribe?token=t.t';
const machine = {
  rentalId,
  name: 'trainer',
  gpuCount: 8,
  model: 'H100',
  chargedCents: 1_234,
  error: null,
};
const nameless = { ...machine, name: null };
const table = [
  'Rental: rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'Name: trainer',
  'Machine: 8 x H100',
  'Charged in all: $12.34',
];
const footer = [
  '',
  'You get this mail because something happened that you did not ask for yourself, and it can be switched off.',
  `Switch such mails off: ${url}`,
];

const mails: readonly Whole[] = [
  [
    'tells of a machine that reached its time',
    noticeMail({ kind: 'rental_auto_stop', all: [machine] }, url),
    'A machine of yours was stopped at the time that you set',
    [
      'The time limit of the rental was reached.',
      '',
      ...table,
      '',
      'Rent another one with a later limit, or without one, to go on.',
      ...footer,
    ],
  ],
  [
    'tells of one that reached its spend limit',
    noticeMail({ kind: 'rental_spend_limit', all: [nameless] }, url),
    'A machine of yours was stopped at your spend limit',
    [
      'What the rental may cost at most was reached.',
      '',
      ...table.filter((line) => !line.startsWith('Name')),
      '',
      'Rent another one with a higher limit, or without one, to go on.',
      ...footer,
    ],
  ],
  [
    'tells of the end of the money, which can’t be switched off',
    noticeMail({ kind: 'rental_balance_exhausted', all: [machine, nameless] }, null),
    '2 machines of yours were stopped: your balance is used up',
    [
      'Nothing was left in the wallet to pay for more time.',
      '',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  8 x H100  $12.34  trainer',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  8 x H100  $12.34',
      '',
      'Top up the wallet before you rent again. Automatic top-ups keep machines running.',
    ],
  ],
  [
    'tells what operators stopped',
    noticeMail({ kind: 'rental_operator_stop', all: [machine] }, url),
    'A machine of yours was stopped by our operators',
    [
      'You pay for the time until then, and nothing for a machine that was not ready yet.',
      '',
      ...table,
      '',
      'If you did not expect this, answer to support.',
      ...footer,
    ],
  ],
  [
    'tells of a lost machine, and what the rental says of it',
    noticeMail({ kind: 'rental_lost', all: [{ ...machine, error: 'The machine was lost.' }] }, url),
    'A machine of yours was lost',
    [
      'The provider does not have it any more. You pay for the time in which it was seen alive, at most.',
      '',
      ...table,
      'What happened: The machine was lost.',
      '',
      'What was on the disk is gone. You can rent again now.',
      ...footer,
    ],
  ],
  [
    'tells of one that never answered',
    noticeMail({ kind: 'rental_failed', all: [{ ...nameless, chargedCents: 0, error: 'Too late.' }] }, url),
    'A machine of yours was not provided',
    [
      'It never became ready. Nothing is charged for it.',
      '',
      'Rental: rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Machine: 8 x H100',
      'Charged in all: $0.00',
      'What happened: Too late.',
      '',
      'You can try again, maybe in another region.',
      ...footer,
    ],
  ],
  [
    'tells of a new key, whatever it is called',
    noticeMail(
      {
        kind: 'ssh_key_added',
        all: [{ keyId, name: '</td><img src=x onerror="a()">&amp;', fingerprint: 'SHA256:3q2' }],
      },
      null,
    ),
    'An SSH key was added to your account',
    [
      'A machine that names one of these keys when it is rented can be entered with it.',
      '',
      '</td><img src=x onerror="a()">&amp;: SHA256:3q2',
      '',
      'If it was not you, remove it, sign out, and answer to support: somebody else is signed in to your account.',
    ],
  ],
  [
    'tells of an API key',
    noticeMail(
      {
        kind: 'api_key_created',
        all: [{ keyId, name: 'nightly', scopes: ['read', 'rentals'], hint: 'a1Zx' }],
      },
      null,
    ),
    'An API key was made in your account',
    [
      'A program that has one can call the API in your name, as far as its scopes go.',
      '',
      'nightly: read, rentals; it ends with a1Zx',
      '',
      'If it was not you, revoke it, end your other sessions, and answer to support: somebody else is signed in to your account.',
    ],
  ],
  [
    'tells of several keys',
    noticeMail(
      {
        kind: 'ssh_key_added',
        all: [
          { keyId, name: 'laptop', fingerprint: 'SHA256:3q2' },
          { keyId, name: 'desk', fingerprint: 'SHA256:4r3' },
        ],
      },
      null,
    ),
    '2 SSH keys were added to your account',
    [
      'A machine that names one of these keys when it is rented can be entered with it.',
      '',
      'laptop: SHA256:3q2',
      'desk: SHA256:4r3',
      '',
      'If it was not you, remove it, sign out, and answer to support: somebody else is signed in to your account.',
    ],
  ],
  [
    'tells of a new card',
    noticeMail({ kind: 'card_saved', all: [{ brand: 'visa', last4: '4242' }] }, null),
    'A card was saved in your account',
    [
      'It is charged when you top up, and by automatic top-ups if you switch them on.',
      '',
      'Card: visa ending in 4242',
      '',
      'If it was not you, remove it in your billing settings, sign out, and answer to support.',
    ],
  ],
  ...(
    [
      ['card_gone', 'The payment processor does not have your saved card any more.'],
      ['card_expired', 'Your saved card has expired.'],
      ['charges_held', 'A payment by your saved card was disputed, or reported as fraud: answer to support.'],
    ] as const
  ).map(([why, line]): Whole => [
    `tells that automatic top-ups are off: ${why}`,
    noticeMail({ kind: 'auto_topup_off', all: [{ why }] }, null),
    'Automatic top-ups are off',
    [
      line,
      'Your machines stop when the balance is used up.',
      '',
      'Save another card in your billing settings and switch automatic top-ups on again.',
    ],
  ]),
];

describe('mails that nobody asked for', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));

  it('name 50 machines, and count the others', () => {
    const all = Array.from({ length: 120 }, () => machine);
    const { subject, text, html } = noticeMail({ kind: 'rental_balance_exhausted', all }, null);
    assert.equal(subject, '120 machines of yours were stopped: your balance is used up');
    assert.equal(text.split(rentalId).length - 1, 50);
    assert.equal(html?.split(rentalId).length, 51);
    assert.match(text, /^and 70 more$/m);
  });

  it('speak of several machines as several', () => {
    const failed = noticeMail({ kind: 'rental_failed', all: [machine, machine] }, null);
    assert.match(failed.text, /^They never became ready/);
    assert.match(noticeMail({ kind: 'rental_lost', all: [machine, machine] }, null).text, /^Their provider/);
  });

  it('hold no text of a user as anything but text', () => {
    const name = `"><script>a()</script><a href='https://evil.example'>`;
    const { html } = noticeMail({ kind: 'ssh_key_added', all: [{ keyId, name, fingerprint: 'f' }] }, null);
    assert.ok(html !== null);
    assert.ok(
      html.includes(
        '&quot;&gt;&lt;script&gt;a()&lt;/script&gt;&lt;a href=&#39;https://evil.example&#39;&gt;',
      ),
    );
    assert.doesNotMatch(html, /<script|<a /);
    for (const all of [[{ ...machine, name }], [machine, { ...machine, name }]]) {
      const { html: ofMachines } = noticeMail({ kind: 'rental_lost', all }, null);
      assert.ok(ofMachines !== null);
      assert.ok(ofMachines.includes('&lt;script&gt;'));
      assert.doesNotMatch(ofMachines, /<script|<a /);
    }
  });
});
