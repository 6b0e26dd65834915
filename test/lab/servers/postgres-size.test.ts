import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { describeMachine, memoryWithin } from '../../../lab/servers/machine.js';
import {
  choosePostgresFolder,
  findPostgresBinaries,
  findPostgresUser,
} from '../../../lab/servers/postgres-home.js';
import { sizedSettings, startPostgres, takesSetting } from '../../../lab/servers/postgres.js';
import { allocatorSettings } from '../../../domain/operations/database-size.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { getPostgres } from '../../support/servers/servers.js';

const GB = 2 ** 30;
const machine = { memoryBytes: 3 * GB, cores: 2, freeBytes: 12 * GB, isAlone: false };
const names = [
  'shared_buffers',
  'max_wal_size',
  'checkpoint_timeout',
  'autovacuum_vacuum_cost_limit',
  'fsync',
];

async function show(url: string): Promise<Record<string, string>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; value: string }>(
      'select name, current_setting(name) as value from unnest($1::text[]) name',
      [names],
    );
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  } finally {
    await client.end();
  }
}

describe('the size of the embedded PostgreSQL', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-sized-'));
    chmodSync(folder, 0o711);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('is that of the machine which it is told, and the server writes as durably as ever', async () => {
    const dataDir = choosePostgresFolder(folder);
    const [port = 0] = await findFreePorts(1);
    const server = await startPostgres({
      ...{ dataDir, port, machine, logFile: join(folder, 'postgres.log'), log: () => undefined },
    });
    try {
      assert.deepEqual(await show(server.url), {
        shared_buffers: '512MB',
        max_wal_size: '3GB',
        checkpoint_timeout: '15min',
        autovacuum_vacuum_cost_limit: '2000',
        fsync: 'on',
      });
      const environment = readFileSync(`/proc/${server.pid}/environ`, 'utf8').split('\0');
      for (const [name, value] of Object.entries(allocatorSettings)) {
        assert.ok(environment.includes(`${name}=${value}`), name);
      }
    } finally {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('stays small where it is not told one', async () => {
    const { url } = await getPostgres();
    assert.equal((await show(url))['shared_buffers'], '128MB');
  });

  it('has its log compressed by lz4 where the build of the server knows it', () => {
    assert.equal(sizedSettings(machine, () => true)['wal_compression'], 'lz4');
    assert.equal(sizedSettings(machine, () => false)['wal_compression'], undefined);
  });

  it('asks the build of the server itself what it knows', async () => {
    const user = findPostgresUser();
    const client = new pg.Client({ connectionString: (await getPostgres()).adminUrl });
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    await client.end();
    const { data_directory: dataDirectory = '' } = rows[0] ?? {};
    const binaries = findPostgresBinaries(user, join(dirname(dataDirectory), 'postgres-binaries'));
    const takes = (value: string) => takesSetting(binaries, user, dataDirectory, 'wal_compression', value);
    assert.deepEqual([takes('pglz'), takes('no-such')], [true, false]);
    assert.deepEqual(findPostgresBinaries(user, '/unused', dirname(binaries.postgres)), binaries);
    assert.throws(
      () => findPostgresBinaries(user, '/unused', '/nowhere'),
      /\/nowhere\/postgres --version failed/,
    );
  });
});

describe('describeMachine', () => {
  it('tells the memory, the cores and the free space of this machine, for a folder that is not there yet', () => {
    const { memoryBytes, cores, freeBytes } = describeMachine(join(tmpdir(), 'not', 'there'));
    assert.ok(memoryBytes > 0.1 * GB && cores >= 1 && freeBytes > 0);
  });

  it('takes the limit of the control group where there is one below the machine’s memory', () => {
    assert.equal(memoryWithin(24 * GB, 2 * GB), 2 * GB);
    for (const none of [undefined, 0, 2 ** 64]) assert.equal(memoryWithin(24 * GB, none), 24 * GB);
  });
});
