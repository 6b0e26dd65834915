import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeFile } from '../../../clients/cli/src/proof/judge.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { makeRoot, sealWhole } from '../../support/money/sealed.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops ledger key, sign and proof', () => {
  let money: MoneyDatabase;
  let folder: string;
  beforeEach(async () => {
    money = await openMoneyDatabase();
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-ops-proof-'));
  });
  afterEach(async () => {
    await money.close();
    rmSync(folder, { recursive: true });
  });

  const ops = (...args: string[]): Promise<OpsResult> =>
    runOps({ databaseUrl: money.url }, 'ledger', ...args);
  const [key, roots] = ['key.pem', 'roots'].map((name) => () => join(folder, name)) as [
    () => string,
    () => string,
  ];
  const sign = (by?: 'signer'): Promise<OpsResult> =>
    runOps(
      { databaseUrl: money.url, ...(by && { role: by }) },
      ...['ledger', 'sign', '--key', key(), '--roots', roots()],
    );

  it('make a key once, sign what waits once, and write a proof that holds', async () => {
    const { db } = money;
    const wallet = await insertWallet(db, 500);
    await db.raw('select switch_sealing(true)');
    await sealWhole(db, wallet);
    await makeRoot(db);
    assert.match((await ops('key', key())).out, /^The public key is [0-9a-f]{64}\.\n$/);
    assert.equal((await ops('key', key())).code, 2, 'a key is there');
    assert.match((await sign()).err, /permission denied/, 'operators sign nothing');
    rmSync(roots());
    assert.equal((await sign('signer')).out, 'Root 1 is signed.\n');
    assert.equal((await sign('signer')).out, '');
    const { out, code } = await ops('proof', '--user', wallet.user_id, '--month', '2026-01');
    assert.equal(code, 0);
    const file = join(folder, 'proof.txt');
    writeFileSync(file, out);
    const judged = await judgeFile(file, { signal: new AbortController().signal, remembersSeals: false });
    assert.deepEqual(
      [judged.finding, judged.proof?.closingCents, judged.proof?.root.number],
      [undefined, 500, 1],
    );
  });

  it('say what is missing: a month that no root covers, a file of roots that is ahead', async () => {
    const { db } = money;
    const wallet = await insertWallet(db, 500);
    const early = await ops('proof', '--user', wallet.user_id, '--month', '2026-01');
    assert.deepEqual([early.code, early.err.includes('No signed root covers 2026-01')], [2, true], early.err);
    assert.equal((await ops('proof', '--user', wallet.user_id, '--month', 'May')).code, 2);
    await ops('key', key());
    await makeRoot(db);
    const other = '0'.repeat(64);
    writeFileSync(roots(), `root 1 7 1 2026-11-01 ${other} ${other} ${other}\nsignature ${other}${other}\n`);
    const refused = await sign('signer');
    assert.deepEqual(
      [refused.code, refused.err.includes('ends with root 7 of epoch 1')],
      [2, true],
      refused.err,
    );
    assert.equal((await db('ledger_roots').first())?.line, null);
  });
});
