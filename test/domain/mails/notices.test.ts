import assert from 'node:assert/strict';
import { noticeMail } from '../../../domain/mails/notices.js';
import { isWhole, type Whole } from './whole.js';

const rentalId = 'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const keyId = 'key_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const;
const passkeyId = 'psk_01JZ8Q4M6T3V5X7Y9A1B2C3D4E';
const url = 'https://api.example.com/v1/notices/unsubscribe?token=t.t';
const machine = {
  rentalId,
  name: 'trainer',
  gpuCount: 8,
  model: 'H100_SXM_80GB',
  chargedCents: 1_234,
  error: null,
};
const nameless = { ...machine, name: null };
const table = [
  'Rental: rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'Name: trainer',
  'Machine: 8 × H100 80 GB',
  'Total charged: $12.34',
];
const footer = [
  '',
  'We send this email when something happens in your account that you did not ask for. You can turn it off.',
  `Turn off these emails: ${url}`,
];

const mails: readonly Whole[] = [
  [
    'tells of a machine that reached its time',
    noticeMail({ kind: 'rental_auto_stop', all: [machine] }, url),
    'We stopped your machine at the time you set',
    [
      'The rental reached its time limit.',
      '',
      ...table,
      '',
      'To continue, rent another machine with a later limit, or without one.',
      ...footer,
    ],
  ],
  [
    'tells of one that reached its spend limit',
    noticeMail({ kind: 'rental_spend_limit', all: [nameless] }, url),
    'We stopped your machine at your spending limit',
    [
      'The rental reached its spending limit.',
      '',
      ...table.filter((line) => !line.startsWith('Name')),
      '',
      'To continue, rent another machine with a higher limit, or without one.',
      ...footer,
    ],
  ],
  [
    'tells what a month moved, and how to prove it later',
    noticeMail(
      {
        kind: 'statement',
        all: [
          {
            month: '2026-10',
            openingCents: 500,
            paidInCents: 200_000,
            machinesCents: -123_456,
            otherCents: -100,
            closingCents: 76_944,
            rootHash: 'ab'.repeat(32),
          },
        ],
      },
      url,
    ),
    'Your statement for October 2026',
    [
      'You spent $1,234.56 on machines in October 2026 (UTC). Your billing pages list them.',
      '',
      'Balance at the start: $5.00',
      'Top-ups: $2,000.00',
      'Machines: -$1,234.56',
      'Refunds and corrections: -$1.00',
      'Balance at the end: $769.44',
      '',
      'Keep this email. With it, these commands show whether anyone has changed these entries:',
      'gpu proof 2026-10 > proof-2026-10.txt',
      `gpu verify proof-2026-10.txt --root ${'ab'.repeat(32)}`,
      '',
      'We send this email once a month. You can turn it off.',
      `Turn off these emails: ${url}`,
    ],
  ],
  [
    'tells of a month without a root as it is',
    noticeMail(
      {
        kind: 'statement',
        all: [
          {
            month: '2026-01',
            openingCents: 0,
            paidInCents: 300,
            machinesCents: 0,
            otherCents: 0,
            closingCents: 300,
            rootHash: null,
          },
        ],
      },
      null,
    ),
    'Your statement for January 2026',
    [
      'You spent $0.00 on machines in January 2026 (UTC). Your billing pages list them.',
      '',
      'Balance at the start: $0.00',
      'Top-ups: $3.00',
      'Machines: $0.00',
      'Balance at the end: $3.00',
    ],
  ],
  [
    'tells of one that was idle for long enough',
    noticeMail({ kind: 'rental_idle', all: [machine] }, url),
    'We stopped your machine for being idle',
    [
      'It was idle for as long as you set.',
      '',
      ...table,
      '',
      'To continue, rent another machine with a longer time, or without an idle guard.',
      ...footer,
    ],
  ],
  [
    'warns of one that is idle, while there is time',
    noticeMail(
      {
        kind: 'rental_idle_near',
        all: [{ ...machine, minutes: 30, stopsAt: '2026-11-01T09:45:00.000Z' }],
      },
      url,
    ),
    'Your machine is idle and will stop soon',
    [
      'You asked us to stop machines that nobody uses. Everything on the disk is lost then.',
      '',
      `${rentalId}  8 × H100 80 GB  stops at 09:45 UTC  trainer`,
      '',
      'To keep one, use its GPUs, or choose “Keep it running” on its page, or type: gpu keep-alive ID --for 2h',
      ...footer,
    ],
  ],
  [
    'tells of the end of the money, which can’t be switched off',
    noticeMail({ kind: 'rental_balance_exhausted', all: [machine, nameless] }, null),
    'Your balance ran out, so we stopped 2 of your machines',
    [
      'Your wallet could not pay for more time.',
      '',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  8 × H100 80 GB  $12.34  trainer',
      'rent_01ARZ3NDEKTSV4RRFFQ69G5FAV  8 × H100 80 GB  $12.34',
      '',
      'Top up your wallet before you rent again. Automatic top-ups keep machines running.',
    ],
  ],
  [
    'tells what operators stopped',
    noticeMail({ kind: 'rental_operator_stop', all: [machine] }, url),
    'Our operators stopped your machine',
    [
      'You pay for the time until then, and nothing for a machine that was not ready yet.',
      '',
      ...table,
      '',
      'If you did not expect this, contact support.',
      ...footer,
    ],
  ],
  [
    'tells of a lost machine, and what the rental says of it',
    noticeMail({ kind: 'rental_lost', all: [{ ...machine, error: 'The machine was lost.' }] }, url),
    'Your machine was lost',
    [
      'The provider no longer has it. You pay only for the time we know it was running.',
      '',
      ...table,
      'What happened: The machine was lost.',
      '',
      'Everything on the disk is gone. You can rent again now.',
      ...footer,
    ],
  ],
  [
    'tells of one that never answered',
    noticeMail({ kind: 'rental_failed', all: [{ ...nameless, chargedCents: 0, error: 'Too late.' }] }, url),
    'We could not provide your machine',
    [
      'It never became ready, so you pay nothing for it.',
      '',
      'Rental: rent_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Machine: 8 × H100 80 GB',
      'Total charged: $0.00',
      'What happened: Too late.',
      '',
      'You can try again, perhaps in another region.',
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
      'Whoever has such a key can log in to the machines that you rent with it.',
      '',
      '</td><img src=x onerror="a()">&amp;: SHA256:3q2',
      '',
      'If this was not you, somebody else is signed in to your account: remove the key, end your other sessions, and contact support.',
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
    'An API key was created in your account',
    [
      'A program that has such a key can call the API in your name, within the key’s scopes.',
      '',
      'nightly: read, rentals; ends with a1Zx',
      '',
      'If this was not you, somebody else is signed in to your account: revoke the key, end your other sessions, and contact support.',
    ],
  ],
  [
    'tells of keys that can do more',
    noticeMail(
      {
        kind: 'api_key_widened',
        all: [
          { keyId, name: 'nightly', hint: 'a1Zx', spendCapCents: 50_000, allowedCidrs: null },
          { keyId, name: 'ci', hint: 'b2Yw', spendCapCents: null, allowedCidrs: ['192.0.2.0/24', '::1/128'] },
        ],
      },
      null,
    ),
    'An API key in your account can do more now',
    [
      'Its spending cap was raised or removed, or it works from more addresses. This is what it can do now:',
      '',
      'nightly: spending cap $500.00; works from anywhere; ends with a1Zx',
      'ci: no spending cap; works from 192.0.2.0/24, ::1/128; ends with b2Yw',
      '',
      'If this was not you, somebody else is signed in to your account: revoke the key, end your other sessions, and contact support.',
    ],
  ],
  [
    'tells of a passkey',
    noticeMail({ kind: 'passkey_added', all: [{ passkeyId, name: 'MacBook' }] }, null),
    'A passkey was added to your account',
    [
      'Whoever can unlock the device that keeps it can sign in to your account. Emailed codes still work.',
      '',
      'Passkey: MacBook',
      '',
      'If this was not you, somebody else is signed in to your account: open Sessions, remove the passkey, end your other sessions, and contact support.',
    ],
  ],
  [
    'tells of a passkey that may be a copy',
    noticeMail({ kind: 'passkey_refused', all: [{ passkeyId, name: 'Key ring' }] }, null),
    'We refused a passkey of your account',
    [
      'It counts how often it is used, and the count went back. Somebody may have copied it.',
      '',
      'Passkey: Key ring',
      '',
      'Open Sessions, remove this passkey, and add a new one. Sign in with an emailed code if you need to.',
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
      'Whoever has such a key can log in to the machines that you rent with it.',
      '',
      'laptop: SHA256:3q2',
      'desk: SHA256:4r3',
      '',
      'If this was not you, somebody else is signed in to your account: remove the key, end your other sessions, and contact support.',
    ],
  ],
  [
    'tells of a new card',
    noticeMail({ kind: 'card_saved', all: [{ brand: 'visa', last4: '4242' }] }, null),
    'A card was saved to your account',
    [
      'We charge it when you top up, and for automatic top-ups if you turn them on.',
      '',
      'Card: Visa ending in 4242',
      '',
      'If this was not you, remove the card in your billing settings, end your other sessions, and contact support.',
    ],
  ],
  ...(
    [
      ['card_gone', 'The payment processor no longer has your saved card.'],
      ['card_expired', 'Your saved card has expired.'],
      ['charges_held', 'A payment with your saved card was disputed or reported as fraud. Contact support.'],
    ] as const
  ).map(([why, line]): Whole => [
    `tells that automatic top-ups are off: ${why}`,
    noticeMail({ kind: 'auto_topup_off', all: [{ why }] }, null),
    'Automatic top-ups are off',
    [
      line,
      'Your machines stop when your balance runs out.',
      '',
      'Save another card in your billing settings, then turn automatic top-ups back on.',
    ],
  ]),
];

describe('mails that nobody asked for', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));

  it('name 50 machines, and count the others', () => {
    const all = Array.from({ length: 120 }, () => machine);
    const { subject, text, html } = noticeMail({ kind: 'rental_balance_exhausted', all }, null);
    assert.equal(subject, 'Your balance ran out, so we stopped 120 of your machines');
    assert.equal(text.split(rentalId).length - 1, 50);
    assert.equal(html?.split(rentalId).length, 51);
    assert.match(text, /^and 70 more$/m);
  });

  it('speak of several machines as several', () => {
    const failed = noticeMail({ kind: 'rental_failed', all: [machine, machine] }, null);
    assert.match(failed.text, /^They never became ready/);
    assert.match(
      noticeMail({ kind: 'rental_lost', all: [machine, machine] }, null).text,
      /^The provider no longer has them/,
    );
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
