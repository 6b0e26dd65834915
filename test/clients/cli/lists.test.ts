import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { viewOf } from '../../../clients/cli/src/watch/view.js';
import { issueInvoice } from './support/issue-invoice.js';
import { Person } from './support/person.js';

interface Cut {
  readonly hasMore?: boolean;
  readonly total?: number;
}

describe('lists of gpu that are cut', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, tickMs: 20, endMs: 20 } });
    ann = await Person.at(mock);
    for (let times = 0; times < 3; times += 1) await ann.pay(20 * (times + 1));
    for (let times = 0; times < 3; times += 1) await ann.rent('rtx-4090 --label team=a');
  });
  after(() => mock.stop());

  it('say so, and how to see the rest', async () => {
    const live = await ann.type('ls --limit 2');
    assert.match(live.out, /\n\n2 of 3 shown. To see all: --limit 3\n/);
    for (const line of ['ls --all', 'topup', 'ledger']) {
      assert.match(
        (await ann.type(`${line} --limit 2`)).out,
        /\nThe first 2 shown. To see more: --limit 4\n/,
        line,
      );
    }
    assert.match(
      (await ann.type('offers h100-80gb --limit 1')).out,
      /The first 1 shown. To see more: --limit 2/,
    );
    for (const line of ['ls --limit 3', 'ls --all --limit 3', 'topup --limit 3', 'invoices']) {
      assert.doesNotMatch((await ann.type(line)).out, /shown/, line);
    }
  });

  it('say so in JSON', async () => {
    const { hasMore, total } = await ann.json<Cut>('ls --limit 2');
    assert.deepEqual([hasMore, total], [true, 3]);
    for (const line of ['ls --all', 'topup', 'ledger', 'offers h100-80gb']) {
      assert.equal((await ann.json<Cut>(`${line} --limit 1`)).hasMore, true, line);
    }
    assert.equal((await ann.json<Cut>('ls')).hasMore, undefined);
  });

  it('reach invoices older than one page of the service', async () => {
    const bob = await Person.at(mock);
    for (let number = 1; number <= 203; number += 1)
      await issueInvoice(bob, { amountCents: 100 + number, description: 'Debt' });
    const read = async (line: string) => {
      const { invoices, hasMore } = await bob.json<Cut & { invoices: { amountCents: number }[] }>(line);
      return [invoices.length, invoices[0]?.amountCents, invoices.at(-1)?.amountCents, hasMore];
    };
    assert.deepEqual(await read('invoices --limit 200'), [200, 303, 104, true]);
    assert.deepEqual(await read('invoices --limit 202'), [202, 303, 102, true]);
    assert.deepEqual(await read('invoices --limit 400'), [203, 303, 101, undefined]);
    assert.match(
      (await bob.type('invoices --limit 202')).out,
      /\nThe first 202 shown. To see more: --limit 404\n/,
    );
  });

  it('are added up by the service, not by what is shown', async () => {
    const { burnPerHourCents } = await ann.json<{ burnPerHourCents: number }>('balance');
    assert.equal(burnPerHourCents, 120);
    assert.match((await ann.type('ls')).out, /\nTogether \$1\.20 an hour\.\n/);
    assert.match(
      (await ann.type('ls --limit 1')).out,
      /\nAll of your machines together: \$1\.20 an hour\.\n/,
    );
    assert.match(
      (await ann.type('ls --all --limit 1')).out,
      /All of your machines together: \$1\.20 an hour\./,
    );
    assert.match((await ann.type('ls --label team=a')).out, /All of your machines together: \$1\.20/);
  });

  it('are told of at a terminal that is too low for all machines', () => {
    const rows = Array.from({ length: 40 }, (_, index) => ({
      ...{ id: `rent_${String(index).padStart(26, '0')}`, name: null, gpus: '1 x A', state: 'running' },
      ...{ isRunning: true, ranSeconds: 1, costCents: 1, pricePerHourCents: 100 },
    }));
    const seen = {
      walletCents: 1,
      burnPerHourCents: 4_000,
      lastsSeconds: 1,
      rows,
      connection: 'live' as const,
    };
    const lines = viewOf(seen, ['news'], { width: 80, height: 24 }, (_colour, text) => text);
    assert.ok(lines.length < 24, String(lines.length));
    assert.ok(lines.includes('15 of 40 shown. To see all: gpu ls'), lines.join('\n'));
    assert.match(lines[0]!, /\$40\.00 an hour/);
  });

  it('are searched and sorted by the service', async () => {
    await ann.rent('h100-80gb --name Needle');
    const ids = async (line: string) =>
      (await ann.json<{ rentals: { id: string; name: string | null }[] }>(line)).rentals.map(
        ({ id, name }) => name ?? id,
      );
    assert.deepEqual(await ids('ls needle H100'), ['Needle']);
    const byPrice = await ids('ls --sort price');
    assert.deepEqual([byPrice.length, byPrice[0]], [4, 'Needle']);
    assert.equal((await ids('ls --all --sort oldest')).at(-1), 'Needle');
    assert.match(
      (await ann.type('ls nowhere')).out,
      /^No running machines match\. To search ended ones too: gpu ls --all\n/,
    );
    const asked = { name: 'other', scopes: ['read', 'rentals'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    const other = await ann.type('ls --mine', { env: { GPU_API_KEY: key } });
    assert.match(other.out, /^No running machines match\./);
    assert.deepEqual(await ids('ls needle --mine'), ['Needle']);
    assert.match((await ann.type('ls --sort best')).err, /newest,\s+oldest, name, price, cost/);
    assert.equal((await ann.type('stop needle-x Needle')).code, 7, 'a mistyped name stops nothing');
    assert.deepEqual(await ids('ls needle'), ['Needle']);
    const twice = await ann.type('stop Needle Needle');
    assert.deepEqual([twice.code, twice.out.match(/Stopped /g)?.length], [0, 1]);
  });
});
