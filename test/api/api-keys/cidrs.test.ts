import assert from 'node:assert/strict';
import { readCidr } from '../../../api/api-keys/cidrs.js';

describe('a range of addresses', () => {
  for (const [text, cidr] of [
    ['192.0.2.0/24', '192.0.2.0/24'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['2001:DB8:0:0::1', '2001:DB8:0:0::1/128'],
    ['::/0', '::/0'],
    ['fe80::/10', 'fe80::/10'],
    ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
    ['::ffff:c000:200/120', '192.0.2.0/24'],
    ['::ffff:192.0.2.9', '192.0.2.9/32'],
    ['64:ff9b::192.0.2.0/120', '64:ff9b::192.0.2.0/120'],
  ] as const) {
    it(`${text} is ${cidr}`, () => assert.deepEqual(readCidr(text), { cidr }));
  }

  for (const text of [
    ...[
      '',
      'home',
      '192.0.2.0/33',
      '192.0.2.1/24',
      '192.0.2',
      '192.0.2.0/',
      '/24',
      '192.0.2.0/24/8',
      '192.0.2.0/-1',
    ],
    ...[
      '2001:db8::1/32',
      '2001:db8::/129',
      'fe80::1%eth0',
      '::ffff:192.0.2.0/95',
      '::ffff:192.0.2.0/24',
      ' 192.0.2.1',
    ],
  ]) {
    it(`${JSON.stringify(text)} is none`, () => assert.ok('fault' in readCidr(text)));
  }
});
