import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';

interface Topups {
  readonly topups: readonly { readonly id: string; readonly status: string }[];
  readonly hasMore?: boolean;
}

describe('gpu receipts and gpu billing', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const isPdf = (file: string): boolean => readFileSync(file).subarray(0, 5).toString() === '%PDF-';

  describe('receipts', () => {
    it('lists payments that were paid, and says where there are none', async () => {
      assert.equal((await ann.type('receipts')).out, 'No receipts yet. Next: gpu pay 20\n');
      await ann.pay(20);
      await ann.pay(70);
      await ann.elsewhere.post('/v1/billing/checkout', { amountCents: 3_000 });
      const { out } = await ann.type('receipts', { columns: 80 });
      assert.match(out, /^WHEN +AMOUNT +HOW +ID\n\S+ \S+ +\$70\.00 +payment page +top_\w+\n.* +\$20\.00 /);
      assert.doesNotMatch(out, /\$30\.00/, 'what was not paid has none');
      assert.match(out, /\nDownload one: gpu receipts download ID\n$/);
      for (const line of out.split('\n')) assert.ok(widthOf(line) <= 80, line);
      const { topups, hasMore } = await ann.json<Topups>('receipts --limit 1');
      assert.deepEqual([topups.length, topups[0]?.status, hasMore], [1, 'succeeded', true]);
    });

    it('download writes the newest, or the one that is named, as a PDF', async () => {
      await ann.pay(20);
      await ann.pay(70);
      const { topups } = await ann.json<Topups>('receipts');
      const [newest, first] = topups.map(({ id }) => id);
      const file = join(ann.home, 'mine.pdf');
      const ran = await ann.run(['receipts', 'download', '--output', file]);
      assert.equal(ran.out, `Saved the receipt of ${newest} as ${file}\n`);
      assert.ok(isPdf(file));
      const named = join(ann.home, 'first.pdf');
      const told = await ann.run(['receipts', 'download', first!, '-o', named, '--json']);
      assert.deepEqual(JSON.parse(told.out), { id: first, file: named });
      assert.ok(isPdf(named));
    });

    it('download names the file after the receipt, and says what it can’t do', async () => {
      const none = await ann.type('receipts download');
      assert.equal(none.code, exitCodes.notFound);
      await ann.pay(20);
      const { topups } = await ann.json<Topups>('receipts');
      const folder = process.cwd();
      process.chdir(ann.home);
      try {
        await ann.type('receipts download');
        assert.ok(isPdf(`receipt-${topups[0]!.id}.pdf`));
      } finally {
        process.chdir(folder);
      }
      const odd = await ann.run(['receipts', 'download', '../../etc/x']);
      assert.equal(odd.code, exitCodes.usage);
      const unknown = await ann.type('receipts download top_01M81GD1CTKV92158CA40Z8Q0E');
      assert.equal(unknown.code, exitCodes.notFound);
      const nowhere = await ann.run(['receipts', 'download', '-o', join(ann.home, 'no', 'x.pdf')]);
      assert.equal(nowhere.code, exitCodes.fault);
      assert.match(nowhere.err, /does not exist/);
    });
  });

  describe('billing details', () => {
    const stored = () => ann.json('billing details');

    it('says that there are none, sets them after a mailed code, and keeps what is not said', async () => {
      const none = await ann.type('billing details');
      assert.match(none.out, /^Your receipts name your email address alone\. .*gpu billing details set/s);
      const line = ['billing', 'details', 'set', '--name', 'Example Ltd', '--address', '1 High Street'];
      const { code, out, err } = await ann.run([...line, '--address', 'London'], {
        types: { 'Six-digit code': '123456' },
      });
      assert.equal(code, 0, err);
      assert.match(err, /^To change your billing details, confirm that it’s you\.\n/);
      assert.equal(out, 'Name     Example Ltd\nAddress  1 High Street\n         London\n');
      await ann.withCode('billing details set --tax-id GB123456789');
      assert.deepEqual(await stored(), {
        name: 'Example Ltd',
        address: '1 High Street\nLondon',
        taxId: 'GB123456789',
      });
      await ann.run(['billing', 'details', 'set', '--address', ''], {
        types: { 'Six-digit code': '123456' },
      });
      assert.equal(((await stored()) as { address: unknown }).address, null);
    });

    it('asks for something to set, and says what is too long', async () => {
      const nothing = await ann.type('billing details set');
      assert.equal(nothing.code, exitCodes.usage);
      assert.match(nothing.err, /--name, --address or --tax-id/);
      const long = await ann.withCode(`billing details set --tax-id ${'x'.repeat(60)}`);
      assert.equal(long.code, exitCodes.usage);
      assert.match(long.err, /^.*--tax-id .*50/s);
    });
  });
});
