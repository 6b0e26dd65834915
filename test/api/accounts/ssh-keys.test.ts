import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { newId } from '../../../adapters/ids.js';
import type { SshKeyId } from '../../../domain/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

describe('SSH keys', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  function field(...parts: (string | Buffer)[]): Buffer {
    return Buffer.concat(
      parts.flatMap((part) => {
        const bytes = Buffer.from(part as string);
        const length = Buffer.alloc(4);
        length.writeUInt32BE(bytes.length);
        return [length, bytes];
      }),
    );
  }

  function lineOf(blob: Buffer, type: string, comment = ''): string {
    return `${type} ${blob.toString('base64')}${comment}`;
  }

  function ed25519(): Buffer {
    const { publicKey } = generateKeyPairSync('ed25519');
    return field('ssh-ed25519', publicKey.export({ type: 'spki', format: 'der' }).subarray(-32));
  }

  function pemKey(key: string): string {
    const parsed = ssh2.utils.parseKey(key);
    if (parsed instanceof Error) throw parsed;
    return lineOf(parsed.getPublicSSH(), parsed.type);
  }

  function rsa(bits: number): string {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: bits,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    return pemKey(privateKey);
  }

  /** A public key of this size without a private half: a whole pair would take minutes. */
  function hugeRsa(bits: number): string {
    const modulus = randomBytes(bits / 8);
    modulus[0] = 0x80 | modulus[0]!;
    modulus[modulus.length - 1] = 1 | modulus.at(-1)!;
    const blob = field('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.concat([Buffer.alloc(1), modulus]));
    return lineOf(blob, 'ssh-rsa');
  }

  function ecdsa(namedCurve: string): string {
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'sec1', format: 'pem' },
    });
    return pemKey(privateKey);
  }

  it('keeps an Ed25519 key without its comment, under the fingerprint that ssh-keygen prints', async () => {
    const blob = ed25519();
    const answer = await user.post('/v1/ssh-keys', {
      name: 'laptop',
      publicKey: `${lineOf(blob, 'ssh-ed25519', ' me@home with spaces')}\n`,
    });
    assert.equal(answer.status, 200);
    assert.match(answer.body.id, /^key_[0-9A-HJKMNP-TV-Z]{26}$/);
    const digest = createHash('sha256').update(blob).digest('base64').replace(/=+$/, '');
    assert.deepEqual(answer.body, {
      id: answer.body.id,
      name: 'laptop',
      fingerprint: `SHA256:${digest}`,
      publicKey: lineOf(blob, 'ssh-ed25519'),
      byKey: false,
      createdAt: answer.body.createdAt,
    });
    assert.deepEqual((await user.get('/v1/ssh-keys')).body, { sshKeys: [answer.body] });
  });

  it('keeps RSA keys of 2048 bits and ECDSA keys', async () => {
    for (const publicKey of [rsa(2048), ecdsa('P-256'), ecdsa('P-384'), ecdsa('P-521')]) {
      const answer = await user.post('/v1/ssh-keys', { name: 'k', publicKey });
      assert.deepEqual([answer.status, answer.body.publicKey], [200, publicKey]);
    }
  });

  it('refuses weak keys and kinds that are not accepted', async () => {
    const dss = lineOf(field('ssh-dss', 'p', 'q', 'g', 'y'), 'ssh-dss');
    const token = lineOf(field('sk-ssh-ed25519@openssh.com', 'k', 'ssh:'), 'sk-ssh-ed25519@openssh.com');
    for (const publicKey of [rsa(1024), dss, token]) {
      const answer = await user.post('/v1/ssh-keys', { name: 'k', publicKey });
      assert.deepEqual([answer.status, answer.body.error], [400, 'weak_key'], publicKey.slice(0, 40));
    }
    assert.deepEqual((await user.get('/v1/ssh-keys')).body, { sshKeys: [] });
  });

  it('refuses RSA keys of more than 8192 bits: each sign-in to a machine computes with it', async () => {
    const largest = await user.post('/v1/ssh-keys', { name: 'k', publicKey: hugeRsa(8192) });
    assert.equal(largest.status, 200);
    const answer = await user.post('/v1/ssh-keys', { name: 'k', publicKey: hugeRsa(8200) });
    assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
    assert.equal(answer.body.details.fields[0]!.field, 'publicKey');
    assert.match(answer.body.message, /8200 bits.*8192/);
  });

  it('keeps at most 100 keys of a user, however many come at once, and takes one again once one is removed', async () => {
    await api.db('ssh_keys').insert(
      Array.from({ length: 98 }, (_, nth) => ({
        ...{ id: newId('key'), user_id: user.user.id, name: `k${nth}` },
        ...{ public_key: `ssh-ed25519 ${nth}`, fingerprint: `SHA256:${nth}` },
      })),
    );
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => user.post('/v1/ssh-keys', { name: 'more', generate: true })),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 4);
    for (const { status, body } of refused) {
      assert.deepEqual([status, body.error, body.details], [400, 'too_many_keys', { maxKeys: 100 }]);
    }
    const kept = answers.find(({ status }) => status === 200)!;
    const twice = await user.post('/v1/ssh-keys', { name: 'again', publicKey: kept.body.publicKey });
    assert.equal(twice.body.error, 'duplicate_key', 'what one has already is not one more');
    await user.delete(`/v1/ssh-keys/${kept.body.id}`);
    assert.equal((await user.post('/v1/ssh-keys', { name: 'again', generate: true })).status, 200);
  });

  it('refuses a text that is no public key', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const blob = ed25519();
    const offCurve = field(
      'ecdsa-sha2-nistp256',
      'nistp256',
      Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)]),
    );
    const wrong = [
      'hello',
      'ssh-ed25519',
      'ssh-ed25519 AAAA',
      lineOf(blob, 'ssh-rsa'),
      lineOf(blob.subarray(0, 40), 'ssh-ed25519'),
      lineOf(offCurve, 'ecdsa-sha2-nistp256'),
      `command="rm" ${lineOf(blob, 'ssh-ed25519')}`,
      `${lineOf(blob, 'ssh-ed25519')}\n${lineOf(blob, 'ssh-ed25519')}`,
      privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    ];
    for (const publicKey of wrong) {
      const answer = await user.post('/v1/ssh-keys', { name: 'k', publicKey });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], publicKey);
      assert.equal(answer.body.details.fields[0]!.field, 'publicKey');
    }
  });

  it('refuses a key that the user has already; another user may have it', async () => {
    const publicKey = lineOf(ed25519(), 'ssh-ed25519');
    assert.equal((await user.post('/v1/ssh-keys', { name: 'one', publicKey })).status, 200);
    const again = await user.post('/v1/ssh-keys', { name: 'two', publicKey: `${publicKey} other-comment` });
    assert.deepEqual([again.status, again.body.error], [400, 'duplicate_key']);
    const other = await api.signIn();
    assert.equal((await other.post('/v1/ssh-keys', { name: 'one', publicKey })).status, 200);
  });

  it('generates a pair that OpenSSH reads, tells the private half once, and keeps only the public one', async () => {
    const answer = await user.post('/v1/ssh-keys', { name: 'made', generate: true });
    assert.equal(answer.status, 200);
    assert.match(answer.body.privateKey, /^-----BEGIN EC PRIVATE KEY-----\n/);
    const folder = mkdtempSync(join(tmpdir(), 'api-key-'));
    try {
      const file = join(folder, 'id');
      writeFileSync(file, answer.body.privateKey, { mode: 0o600 });
      assert.equal(
        execFileSync('ssh-keygen', ['-y', '-f', file], { encoding: 'utf8' }).trim(),
        answer.body.publicKey,
      );
      const printed = execFileSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' });
      assert.ok(printed.includes(answer.body.fingerprint), printed);
    } finally {
      rmSync(folder, { recursive: true });
    }
    const kept = await api.db('ssh_keys').where({ id: answer.body.id as SshKeyId });
    assert.ok(!JSON.stringify(kept).includes('PRIVATE'));
    const [listed] = (await user.get('/v1/ssh-keys')).body.sshKeys;
    assert.equal('privateKey' in listed!, false);
  });

  it('refuses bodies of another shape', async () => {
    const publicKey = lineOf(ed25519(), 'ssh-ed25519');
    const wrong = [
      {},
      { name: 'k' },
      { publicKey },
      { name: '', publicKey },
      { name: 'x'.repeat(65), publicKey },
      { name: 'a\u0000b', publicKey },
      { name: 'a\ud800b', publicKey },
      { name: 7, publicKey },
      { name: 'k', publicKey, generate: true },
      { name: 'k', generate: false },
      { name: 'k', generate: 'true' },
      { name: 'k', publicKey, more: 1 },
      { name: 'k', publicKey: 7 },
    ];
    for (const body of wrong) {
      const answer = await user.post('/v1/ssh-keys', body);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], JSON.stringify(body));
    }
  });

  it('counts the characters of a name, not its UTF-16 units', async () => {
    const answer = await user.post('/v1/ssh-keys', { name: '🔑'.repeat(64), generate: true });
    assert.equal(answer.status, 200);
  });

  it('removes only a key of the user’s own', async () => {
    const { body } = await user.post('/v1/ssh-keys', { name: 'k', generate: true });
    const other = await api.signIn();
    for (const id of [body.id, 'key_1', 'key_%00']) {
      const answer = await other.delete(`/v1/ssh-keys/${id}`);
      assert.deepEqual([answer.status, answer.body.error], [404, 'key_not_found'], id);
    }
    const answer = await user.delete(`/v1/ssh-keys/${body.id}`);
    assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
    const again = await user.delete(`/v1/ssh-keys/${body.id}`);
    assert.deepEqual([again.status, again.body.error], [404, 'key_not_found']);
  });
});
