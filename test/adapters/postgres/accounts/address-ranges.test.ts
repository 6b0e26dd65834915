import assert from 'node:assert/strict';
import { isWithin, widens } from '../../../../domain/accounts/address-ranges.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('ranges of addresses', () => {
  let opened: MoneyDatabase;
  before(async () => {
    opened = await openMoneyDatabase();
  });
  after(() => opened.close());

  const ranges = [
    ...['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/23', '10.1.2.3/32', '11.0.0.0/8', '128.0.0.0/1'],
    ...['::/0', '2001:db8::/32', '2001:db8:0:8000::/49', '2001:db8::1/128', '2001:db9::/32', '::a01:203/128'],
  ];

  it('lie within each other as PostgreSQL has it', async () => {
    const { rows } = await opened.db.raw<{ rows: { a: string; b: string; within: boolean }[] }>(
      `select a::text, b::text, a <<= b as within from unnest(:ranges::cidr[]) a cross join unnest(:ranges::cidr[]) b`,
      { ranges },
    );
    assert.deepEqual([...new Set(rows.map(({ within }) => within))].toSorted(), [false, true]);
    for (const { a, b, within } of rows) assert.equal(isWithin(a, [b]), within, `${a} within ${b}`);
  });

  it('widen only where an address comes in', () => {
    assert.equal(widens(null, ['10.0.0.0/8']), false);
    assert.equal(widens(['0.0.0.0/0'], null), true, 'all of IPv6 comes in');
    assert.equal(widens(['10.0.0.0/8', '2001:db8::/32'], ['10.1.0.0/16', '2001:db8::1/128']), false);
    assert.equal(widens(['10.0.0.0/8'], ['10.1.0.0/16', '11.0.0.0/8']), true);
    assert.equal(isWithin('10.1.2.3', ['10.1.0.0/16']), true);
    assert.equal(isWithin('10.2.2.3', ['10.1.0.0/16']), false);
  });
});
