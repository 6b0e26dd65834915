import assert from 'node:assert/strict';
import { judgeBills } from './bills.js';
import type { Evidence } from './evidence.js';

/** Ran for an hour at 100 cents, and its wallet had money for all of it. */
const paid = {
  ...{ id: 'rent_1', status: 'stopped', price: '100', max_spend: null, stop_reason: 'user' },
  ...{ running_ms: '1000', ended_ms: '3601000', net: '100', overage: '0', written_off: '0', invoices: [] },
};

async function judge(
  bill: Partial<Record<keyof typeof paid, string | null | readonly string[]>>,
): Promise<string> {
  const ask = (() => Promise.resolve([{ ...paid, ...bill }])) as unknown as Evidence['ask'];
  return (await judgeBills({ ask } as Evidence)).join('; ');
}

describe('the judge of bills', () => {
  it('passes a bill that the wallet, one invoice or nobody pays, each as it must be', async () => {
    assert.equal(await judge({}), '');
    assert.equal(await judge({ net: '50', overage: '50', invoices: ['50'] }), '');
    assert.equal(await judge({ net: '51', written_off: '49' }), '');
    assert.equal(await judge({ max_spend: '60', net: '60' }), '');
    assert.equal(await judge({ status: 'failed', net: '0' }), '');
    assert.equal(await judge({ running_ms: null, net: '0' }), '');
    // Nobody owes the cent that rounding half up adds.
    assert.equal(await judge({ ended_ms: '3619000', net: '100', written_off: '1' }), '');
    assert.equal(
      await judge({ ended_ms: '3619000', net: '50', overage: '50', written_off: '1', invoices: ['50'] }),
      '',
    );
  });

  it('finds what is billed to nobody', async () => {
    assert.match(await judge({ net: '0' }), /it costs 0, and must cost 100/);
    assert.match(await judge({ status: 'failed', net: '7' }), /it costs 7, and must cost 0/);
    assert.match(await judge({ running_ms: null, net: '7' }), /it costs 7, and must cost 0/);
  });

  it('finds what is written off and not owed, or owed and not written off', async () => {
    assert.match(await judge({ net: '50', written_off: '50' }), /did not pay 50 cents: 0 are owed/);
    assert.match(
      await judge({ net: '51', overage: '49', invoices: ['49'] }),
      /did not pay 49 cents: 49 are owed/,
    );
  });

  it('finds overage without its one invoice', async () => {
    assert.match(await judge({ net: '50', overage: '50' }), /invoices ask for nothing/);
    assert.match(await judge({ net: '50', overage: '50', invoices: ['50', '50'] }), /ask for 50 and 50/);
    assert.match(await judge({ invoices: ['60'] }), /did not pay 0 cents, and invoices ask for 60/);
  });
});
