import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { type Authority, makeAuthority } from '../../../lab/servers/certificates.js';
import { findPostgresUser } from '../../../lab/servers/postgres-home.js';
import { type PostgresServer, startPostgres } from '../../../lab/servers/postgres.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { migrateToLatest } from '../../../migrations/migrate.js';
import { argsToTest } from '../../support/programs.js';

/** A server of its own, whose certificate is of an authority that no machine trusts. */
describe('sslmode', function () {
  this.timeout(120_000);
  let folder: string;
  let authority: Authority;
  let stranger: Authority;
  let server: PostgresServer;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'encrypted-test-'));
    chmodSync(folder, 0o755);
    authority = makeAuthority(join(folder, 'own'));
    stranger = makeAuthority(join(folder, 'stranger'));
    const { certPath, keyPath } = authority.issue('database');
    const user = findPostgresUser();
    if (user) for (const file of [certPath, keyPath]) chownSync(file, user.uid, user.gid);
    chmodSync(keyPath, 0o600);
    const [port = 0] = await findFreePorts(1);
    server = await startPostgres({
      ...{ port, log: () => undefined, dataDir: join(folder, 'data'), disposable: true },
      logFile: join(folder, 'postgres.log'),
      settings: {
        listen_addresses: '127.0.0.1,127.0.0.2',
        ssl: 'on',
        ssl_cert_file: certPath,
        ssl_key_file: keyPath,
      },
    });
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function isEncrypted(parameters: string): Promise<boolean | undefined> {
    const db = openDatabase(`${server.url}?${parameters}`, 1, 'test-encrypted');
    try {
      const { rows } = await db.raw<{ rows: { ssl: boolean }[] }>(
        'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
      );
      return rows[0]?.ssl;
    } finally {
      await db.destroy();
    }
  }

  it('encrypts as it says, and asks of the certificate what it says', async () => {
    assert.equal(await isEncrypted('connect_timeout=5'), false);
    assert.equal(await isEncrypted('sslmode=disable'), false);
    assert.equal(await isEncrypted('sslmode=require'), true);
    assert.equal(await isEncrypted('sslmode=require&channel_binding=require'), true);
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      assert.equal(await isEncrypted(`sslmode=${mode}&sslrootcert=${authority.certPath}`), true, mode);
    }
  });

  for (const mode of ['require', 'verify-ca', 'verify-full']) {
    it(`${mode} refuses a server whose certificate another authority signed`, async () => {
      await assert.rejects(isEncrypted(`sslmode=${mode}&sslrootcert=${stranger.certPath}`), /certificate/);
    });
  }

  it('verify-full refuses a certificate of another name, and verify-ca takes it', async () => {
    const named = server.url.replace('127.0.0.1', '127.0.0.2');
    const reach = async (mode: string) => {
      const db = openDatabase(`${named}?sslmode=${mode}&sslrootcert=${authority.certPath}`, 1, 'test-named');
      try {
        await db.raw('select 1');
      } finally {
        await db.destroy();
      }
    };
    await reach('verify-ca');
    await assert.rejects(reach('verify-full'), /altnames|IP: 127.0.0.2/);
  });

  it('is heard by migrate as well', async () => {
    const taken = await migrateToLatest(
      `${server.url}?sslmode=verify-full&sslrootcert=${authority.certPath}`,
    );
    assert.ok(taken.length > 0);
    await assert.rejects(
      migrateToLatest(`${server.url}?sslmode=verify-full&sslrootcert=${stranger.certPath}`),
      /certificate/,
    );
  });
});

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Each process at a server that answers as PostgreSQL 16 does. */
describe('PostgreSQL 16', function () {
  this.timeout(120_000);
  let server: Server;
  const asked: string[] = [];
  before(async () => (server = await startOldServer(asked)));
  after(() => server.close());
  beforeEach(() => asked.splice(0));

  for (const [program, ...args] of [
    ['migrations/run.ts'],
    ['api/index.ts'],
    ['worker/index.ts'],
    ['ops/index.ts', 'brakes'],
  ] as const) {
    it(`is refused in words by ${program}, before any statement but for its version`, async () => {
      const { code, out } = await run([...(await argsOf(program)), ...args]);
      assert.ok(code !== null && code > 0, `${code}: ${out}`);
      assert.match(out, /PostgreSQL 17 or newer is needed/);
      assert.match(out, /docs\/operations\/deploying\.md#postgresql/);
      assert.deepEqual(
        asked.filter((sql) => !sql.includes('version')),
        [],
      );
    });
  }

  /** Migrations are none of the programs that are built for tests. */
  const argsOf = (program: string) =>
    program.startsWith('migrations/') ? ['--import', 'tsx', program] : argsToTest(program);

  async function run(args: readonly string[]): Promise<{ code: number | null; out: string }> {
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env['PATH'],
      DATABASE_URL: `postgres://gpu_rental:secret@127.0.0.1:${port}/gpu_rental`,
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      DASHBOARD_URL: 'http://127.0.0.1:1',
      SMTP_URL: 'smtp://127.0.0.1:1',
      API_PORT: '0',
    };
    const child = spawn(process.execPath, [...args], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000);
    let out = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (out += text));
    }
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    return { code, out };
  }
});

/** Speaks as much of the protocol as a connection takes: no password, and one row for each simple statement. */
async function startOldServer(asked: string[]): Promise<Server> {
  const server = createServer((socket) => {
    let isBegun = false;
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      if (!isBegun) {
        isBegun = true;
        const knows = !data.toString('latin1').includes('transaction_timeout=');
        if (knows) socket.write(Buffer.concat([message('R', int32(0)), ready]));
        else socket.end(unknownSetting);
        return;
      }
      if (data[0] !== 0x51) return;
      const sql = data.toString('latin1', 5, data.length - 1);
      asked.push(sql);
      socket.write(oneRow(sql.includes('version_num') ? '160009' : 'PostgreSQL 16.9 on x86_64'));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const message = (type: string, ...body: Buffer[]): Buffer => {
  const all = Buffer.concat(body);
  return Buffer.concat([Buffer.from(type), int32(all.length + 4), all]);
};
const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const ready = message('Z', Buffer.from('I'));
const unknownSetting = message(
  'E',
  text('SFATAL'),
  text('C42704'),
  text('Munrecognized configuration parameter "transaction_timeout"'),
  Buffer.from([0]),
);

function oneRow(value: string): Buffer {
  const column = Buffer.concat([
    text('version'),
    int32(0),
    Buffer.from([0, 0]),
    int32(25),
    Buffer.from([255, 255]),
  ]);
  const described = message('T', Buffer.from([0, 1]), column, int32(-1), Buffer.from([0, 0]));
  const bytes = Buffer.from(value);
  return Buffer.concat([
    described,
    message('D', Buffer.from([0, 1]), int32(bytes.length), bytes),
    message('C', text('SELECT 1')),
    ready,
  ]);
}
