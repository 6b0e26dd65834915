import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { insertRental, insertUser } from '../support/money/factories.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';
import { argsToTest } from '../support/programs.js';
import { urlAs } from '../support/ops/operators.js';

describe('ops beside a local stack', () => {
  let database: MoneyDatabase;
  let dataDir: string;
  let stack: ChildProcess;
  before(async () => {
    database = await openMoneyDatabase();
    dataDir = mkdtempSync(join(tmpdir(), 'ops-test-'));
    // The command takes this for a stack: a live process with its file.
    stack = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(stack, 'spawn');
  });
  after(async () => {
    stack.kill('SIGKILL');
    rmSync(dataDir, { recursive: true, force: true });
    await database.close();
  });

  function write(pid: number | undefined): void {
    const logins = { ada: urlAs('ada', database.url), bob: urlAs('bob', database.url) };
    const env = {
      DATABASE_URL: database.url,
      DATABASE_ROLE: 'gpu_rental_ops',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    };
    writeFileSync(join(dataDir, 'ops.json'), JSON.stringify({ pid, logins, env }));
  }

  /** Runs the program itself, with only the folder configured. */
  async function ops(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return run({ LAB_DATA_DIR: dataDir }, args);
  }

  async function run(
    more: NodeJS.ProcessEnv,
    args: readonly string[],
  ): Promise<{ code: number; out: string; err: string }> {
    const env = { PATH: process.env['PATH'], ...more };
    const child = spawn(process.execPath, [...(await argsToTest('ops/index.ts')), ...args], { env });
    const written = { out: '', err: '' };
    child.stdout.on('data', (chunk: Buffer) => (written.out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (written.err += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    return { code, ...written };
  }

  it('finds it without any configuration, and lists its users', async () => {
    const user = await insertUser(database.db);
    write(stack.pid);
    const { code, out, err } = await ops('users', 'list');
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^${user.id} {2}${user.email} {2}since `, 'm'));
  });

  it('acts as either of its two operators', async () => {
    write(stack.pid);
    const block = ['pause', 'creates', '--reason', 'a drill', '--dry-run'];
    assert.match((await ops(...block)).out, /^Would do as ada: /);
    assert.match((await ops('--as', 'bob', ...block)).out, /^Would do as bob: /);
    const { code, err } = await ops('--as', 'eve', ...block);
    assert.deepEqual([code, err], [2, 'The local stack has no operator eve: ada, bob.\n']);
  });

  it('shows one thing where nothing is said of Temporal, for a link is no question', async () => {
    const { id } = await insertRental(database.db, (await insertWallet(database.db, 0)).user_id);
    const env = { LAB_DATA_DIR: join(dataDir, 'none'), DATABASE_URL: urlAs('ada', database.url) };
    const { code, out, err } = await run(env, ['rentals', 'show', id]);
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`^workflow +http://127.0.0.1:8233/.*/${id}$`, 'm'));
    assert.match((await run(env, ['reconcile'])).err, /"TEMPORAL_ADDRESS" is required/);
  });

  it('says what to do when there is none', async () => {
    const gone = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
    await once(gone, 'exit');
    write(gone.pid);
    const { code, err } = await ops('users', 'list');
    assert.equal(code, 2);
    assert.match(err, /"DATABASE_URL" is required[^]*start one with "npm start"/);
    assert.equal((await ops('--help')).code, 0);
  });
});
