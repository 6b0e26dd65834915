import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';
import { issueInvoice } from './support/issue-invoice.js';

describe('gpu invoices pay', () => {
  let mock: MockServer;
  let ann: Person;
  before(async () => {
    mock = await startMock({ port: 0 });
  });
  beforeEach(async () => {
    ann = await Person.at(mock);
  });
  after(() => mock.stop());

  const pays = async (line = 'invoices pay') => (await ann.json<{ url: string }>(line)).url;
  const pageOf = (id: string) => `${mock.url}/mock/invoices/${id}`;

  it('pays one that was given up, and the list says how', async () => {
    const id = await issueInvoice(ann, { amountCents: 500, givenUp: true });
    assert.match((await ann.type('invoices')).out, /not paid[^]*\nPay one: gpu invoices pay ID\n/);
    assert.equal(await pays(), pageOf(id));
    const paid = await fetch(`${pageOf(id)}/pay`, { method: 'POST' });
    assert.match(await paid.text(), /Invoice: paid/);
    assert.doesNotMatch((await ann.type('invoices')).out, /Pay one/);
    const none = await ann.type('invoices pay');
    assert.deepEqual([none.code, none.err], [7, 'You have no invoice to pay.\n']);
  });

  it('takes the open one before those that were given up, and of several wants one named', async () => {
    const givenUp = await issueInvoice(ann, { amountCents: 500, givenUp: true });
    const open = await issueInvoice(ann, { amountCents: 700 });
    assert.equal(await pays(), pageOf(open));
    assert.equal(await pays(`invoices pay ${givenUp}`), pageOf(givenUp));
    await issueInvoice(ann, { amountCents: 900 });
    assert.match((await ann.type('invoices pay')).err, /You have several invoices to pay/);
  });
});
