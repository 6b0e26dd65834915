import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { startPair, type FailoverPair } from '../../../tools/prod-like/failover.js';
import { until } from '../../support/until.js';

describe('the pair of test:prod-like', function () {
  this.timeout(240_000);
  let folder: string;
  let pair: FailoverPair;
  let db: Database;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'prod-like-pair-'));
    chmodSync(folder, 0o755);
    const [first = 0, second = 0] = await findFreePorts(2);
    const seat = (name: string, port: number) => ({
      ...{ name, port, log: () => undefined, dataDir: join(folder, name) },
      logFile: join(folder, `${name}.log`),
    });
    pair = await startPair([seat('first', first), seat('second', second)]);
    db = openDatabase(pair.url, 2, 'test-pair');
    await db.raw('create table acknowledged (n int primary key)');
  });
  after(async () => {
    await db.destroy();
    await pair.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('takes over without anyone, one way and back, and loses nothing that was acknowledged', async () => {
    const acknowledged: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      const kill = pair.killPrimary();
      for (let turn = 0; turn < 50; turn += 1) {
        const n = round * 1_000 + turn;
        await until('it is written', () =>
          db.raw('insert into acknowledged values (?) on conflict do nothing', [n]).then(
            () => true,
            () => false,
          ),
        );
        acknowledged.push(n);
      }
      await kill;
    }
    const { rows } = await db.raw<{ rows: { n: number }[] }>('select n from acknowledged order by n');
    assert.deepEqual(
      rows.map(({ n }) => n),
      acknowledged,
    );
  });
});
