import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../../adapters/postgres/database.js';
import { takeLease } from '../../../../adapters/postgres/requests/leases.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { until } from '../../../support/until.js';

const root = new URL('../../../..', import.meta.url).pathname;

/** What another process runs: it takes a lease, says so, and lives on. */
const holding = (url: string, lastsMs: number): string => `
  import { openDatabase } from './adapters/postgres/database.ts';
  import { takeLease } from './adapters/postgres/requests/leases.ts';
  await takeLease(openDatabase('${url}', 1, 'test'), 'x', ${lastsMs});
  console.log('held');
  setInterval(() => undefined, 1_000);
`;

describe('leases', function () {
  this.timeout(20_000);
  let money: MoneyDatabase;
  before(async () => {
    money = await openMoneyDatabase();
  });
  after(() => money.close());

  it('are one’s at a time, each by its name, until they are released', async () => {
    const { db } = money;
    const first = await takeLease(db, 'a', 60_000);
    assert.ok(first);
    assert.equal(await takeLease(db, 'a', 60_000), undefined);
    const other = await takeLease(db, 'b', 60_000);
    assert.ok(other);
    await first.release();
    const second = await takeLease(db, 'a', 60_000);
    assert.ok(second);
    // Whoever had it before takes nothing from whoever has it now.
    await first.release();
    assert.equal(await takeLease(db, 'a', 60_000), undefined);
    await Promise.all([second.release(), other.release()]);
  });

  it('are given back for good while they are taken anew', async () => {
    let isSlow = true;
    const slow = {
      async raw(sql: string, facts: Record<string, string>) {
        if (sql.startsWith('update') && isSlow) {
          isSlow = false;
          await sleep(500);
        }
        return money.db.raw<unknown>(sql, facts) as Promise<unknown>;
      },
    } as unknown as Database;
    const lease = await takeLease(slow, 'c', 3_000);
    assert.ok(lease);
    await until('it is being taken anew', () => !isSlow);
    await lease.release();
    await sleep(600);
    const next = await takeLease(money.db, 'c', 60_000);
    assert.ok(next);
    await next.release();
  });

  it('last as long as their holder, and end after a killed one', async () => {
    const lastsMs = 1_500;
    const holder = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', holding(money.url, lastsMs)],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    await once(holder.stdout, 'data');
    const sinceMs = performance.now();
    await until('it was kept for longer than it lasts', async () => {
      assert.equal(await takeLease(money.db, 'x', lastsMs), undefined);
      return performance.now() - sinceMs > 2 * lastsMs;
    });
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    assert.equal(await takeLease(money.db, 'x', lastsMs), undefined);
    const next = await until('it is free', () => takeLease(money.db, 'x', lastsMs));
    await next.release();
  });
});
