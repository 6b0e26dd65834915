import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { makeAuthority, type Authority } from '../../../lab/servers/certificates.js';
import { findPostgresUser } from '../../../lab/servers/postgres-home.js';
import { startPostgres, type PostgresServer } from '../../../lab/servers/postgres.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { migrateToLatest } from '../../../migrations/migrate.js';

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
