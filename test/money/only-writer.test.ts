import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Statements that lock a wallet, change a balance or write the ledger. */
const moving = [
  /update\s+(wallets|ledger_\w+)\b/i,
  /insert\s+into\s+ledger_\w+/i,
  /from\s+wallets\b[^;`']*\bfor\s+(no\s+key\s+)?update/i,
  /\('(wallets|ledger_entries|ledger_causes)'\)[\s\S]{0,120}?\.(update|forUpdate|forNoKeyUpdate|delete)\(/,
  /\('ledger_(entries|causes)'\)[\s\S]{0,120}?\.insert\(/,
];

/** Locks a wallet to read under it. The database refuses any write there (last-word.test.ts). */
const readsUnderLock = 'adapters/postgres/requests/last-word.ts';

describe('the statements of the product', () => {
  const files = execFileSync(
    'git',
    ['ls-files', 'activities', 'adapters', 'api', 'domain', 'money', 'ops', 'worker'],
    {
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  const isMoving = (file: string): boolean => {
    const text = readFileSync(file, 'utf8');
    return moving.some((statement) => statement.test(text));
  };

  it('lock wallets, move money and write the ledger in money/ alone', () => {
    assert.deepEqual(
      files.filter((file) => !file.startsWith('money/') && isMoving(file)),
      [readsUnderLock],
    );
  });

  it('read rows and seals of the ledger in adapters/postgres/ledger alone', () => {
    const reading =
      /(from|join)\s+(ledger_entries|ledger_rows|ledger_seals)\b|\('ledger_(entries|rows|seals)'\)/;
    assert.deepEqual(
      files.filter(
        (file) => !file.startsWith('adapters/postgres/ledger/') && reading.test(readFileSync(file, 'utf8')),
      ),
      [],
    );
  });

  it('are found where they are', () => {
    for (const file of ['money/ledger/post.ts', 'money/ledger/wallets.ts', 'money/metering/tick.ts'])
      assert.ok(isMoving(file), file);
  });
});
