import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { newId } from '../../../adapters/ids.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { argsToTest } from '../../support/programs.js';
import { insertRunning, insertWallet } from '../../support/money/money.js';

const run = promisify(execFile);

interface Outcome {
  readonly code: number;
  readonly text: string;
}

describe('ops ledger verify', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 2, 'test');
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const command = async (...args: string[]) => [
    ...(await argsToTest('ops/index.ts')),
    ...['ledger', 'verify', ...args],
  ];
  const environment = (): NodeJS.ProcessEnv => ({
    ...process.env,
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  });

  async function verify(...args: string[]): Promise<Outcome> {
    try {
      const { stdout } = await run(process.execPath, await command(...args), { env: environment(), cwd });
      return { code: 0, text: stdout };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, text: stdout + stderr };
    }
  }

  it('stops writing when its reader is gone, as with "| head -1"', async () => {
    const child = spawn(process.execPath, await command(), {
      env: environment(),
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const heard = { text: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => (heard.text += text));
    const [code] = (await once(child, 'close')) as [number];
    assert.deepEqual([code, heard.text], [0, '']);
  });

  it('says that all wallets add up, and names the first row that does not', async () => {
    const fine = await insertWallet(db, 1_000);
    const broken = await insertWallet(db, 2_000);
    await insertRunning(db, broken, { priceCents: 100, ranMs: 0 });
    assert.deepEqual(await verify(), { code: 0, text: 'All 2 wallets add up.\n' });

    await db.raw('alter table wallets disable trigger user');
    await db('wallets').where({ id: broken.id }).update({ reserved_cents: 99 });
    const all = await verify();
    assert.equal(all.code, 1);
    assert.match(all.text, new RegExp(`^wallet  wallet ${broken.id}: total 1999, newest entry 2000`));
    assert.match(all.text, new RegExp(`holds   wallet ${broken.id}: reserved 99, holds 100`));
    assert.equal((await verify('--user', fine.user_id)).code, 0);
    const one = await verify('--user', broken.user_id, '--json');
    assert.equal(one.code, 1);
    assert.equal((JSON.parse(one.text) as { findings: unknown[] }).findings.length, 2);
  });

  it('refuses a user that is no user', async () => {
    assert.deepEqual(await verify('--user', 'ann'), {
      code: 2,
      text: '--user takes a user id such as usr_01J…, not ann.\n',
    });
    const nobody = newId('usr');
    assert.deepEqual(await verify('--user', nobody), { code: 2, text: `There is no wallet of ${nobody}.\n` });
  });
});
