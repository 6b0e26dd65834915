import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { openDatabase, processName, release } from '../../../adapters/postgres/database.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { credit, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops ledger seal', () => {
  let money: MoneyDatabase;
  beforeEach(async () => {
    money = await openMoneyDatabase();
  });
  afterEach(() => money.close());

  const ops = (...args: string[]): Promise<OpsResult> =>
    runOps({ databaseUrl: money.url }, 'ledger', ...args);
  const byAda = ['--by', 'ada', '--reason', 'the disk fills', '--yes'];
  const isOn = async () => (await money.db('ledger_sealing').first())?.is_on;

  it('is switched on and off once, with a name and a reason', async () => {
    const on = await ops('seal', 'on', ...byAda);
    assert.equal(on.code, 0, on.out + on.err);
    assert.equal(await isOn(), true);
    const again = await ops('seal', 'on', ...byAda);
    assert.deepEqual([again.code, (again.out + again.err).includes('Sealing is on already')], [1, true]);
    assert.equal((await ops('seal', 'off', ...byAda)).code, 0);
    assert.equal(await isOn(), false);
    const actions = await money.db('operator_actions').select('kind', 'reason').orderBy('done_at');
    assert.deepEqual(actions, [
      { kind: 'seal_ledger', reason: 'the disk fills' },
      { kind: 'stop_sealing', reason: 'the disk fills' },
    ]);
  });

  it('is refused while a process of an earlier release is connected, by name', async () => {
    const connect = async (name: string): Promise<pg.Client> => {
      const client = new pg.Client({ connectionString: money.url, application_name: name });
      await client.connect();
      return client;
    };
    const [older, newer] = [await connect('worker-meter'), await connect(processName('worker'))];
    try {
      const { code, out, err } = await ops('seal', 'on', ...byAda);
      assert.equal(code, 1);
      assert.match(out + err, /Processes of an earlier release are connected.*: worker-meter\./);
      assert.equal(await isOn(), false);
    } finally {
      await older.end();
      await newer.end();
    }
  });

  it('knows the release that package.json says', () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as {
      version: string;
    };
    assert.ok(version.startsWith(`${release}.`), version);
  });

  it('lets the service read the table again where nothing was sealed', async () => {
    const asApi = openDatabase(money.url, 1, 'test', databaseRoles.api);
    try {
      await ops('seal', 'on', ...byAda);
      await assert.rejects(asApi('ledger_entries').first(), { code: '42501' });
      await ops('seal', 'off', ...byAda);
      await ops('unseal', ...byAda);
      await asApi('ledger_entries').first();
    } finally {
      await asApi.destroy();
    }
  });

  it('tells how far it is, and writes all rows back once it is off', async () => {
    const wallets = [await insertWallet(money.db, 500), await insertWallet(money.db, 700)];
    await credit(money.db, wallets[0]!.user_id, 100);
    await ops('seal', 'on', ...byAda);
    for (const { id } of [...wallets, wallets[0]!]) await money.db.raw('select seal_wallet(?, 1, 1)', [id]);
    assert.match(
      (await ops('seal')).out,
      /^Sealing is on since .*\n.*\nSeals: 3\. Entries in them: 3\. Bytes on the disk: \d+\.\n$/,
    );
    const early = await ops('unseal', ...byAda);
    assert.deepEqual([early.code, (early.out + early.err).includes('first ops ledger seal off')], [1, true]);
    await ops('seal', 'off', ...byAda);
    const { code, out } = await ops('unseal', ...byAda);
    assert.equal(code, 0);
    assert.match(out, /All rows are back\. Entries that were sealed: 3\./);
    assert.deepEqual(await money.db('ledger_seals'), []);
    assert.match((await ops('seal', '--json')).out, /"seals":0,"entries":0/);
  });
});
