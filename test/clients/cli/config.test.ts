import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivately } from '../../../clients/cli/src/config/files.js';
import { pathsOf } from '../../../clients/cli/src/config/paths.js';
import { readUrl, Store } from '../../../clients/cli/src/config/store.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { GpuUser } from './support/gpu.js';

describe('what gpu remembers', () => {
  const a = 'https://a.example.com';
  const b = 'https://b.example.com';
  const profile = { email: 'ann@example.com', keyId: 'key_1', keyExpiresAt: '2027-01-01T00:00:00.000Z' };

  function store(env: Record<string, string> = {}): Store {
    return new Store({ env, home: new GpuUser(a).home });
  }

  it('stands where the XDG variables say, and never at a relative path', () => {
    const home = '/home/ann';
    assert.deepEqual(pathsOf({ env: {}, home }), {
      profiles: '/home/ann/.config/gpu-rental/profiles.json',
      credentials: '/home/ann/.config/gpu-rental/credentials.json',
      identity: '/home/ann/.local/share/gpu-rental/id_ed25519',
      knownHosts: '/home/ann/.local/state/gpu-rental/known_hosts',
      machines: '/home/ann/.local/state/gpu-rental/machines',
      sshConfig: '/home/ann/.local/state/gpu-rental/ssh_config.d',
      roots: '/home/ann/.local/share/gpu-rental/roots',
    });
    const env = { XDG_CONFIG_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: 'relative' };
    const { credentials, identity, knownHosts } = pathsOf({ env, home });
    assert.equal(credentials, '/c/gpu-rental/credentials.json');
    assert.equal(identity, '/d/gpu-rental/id_ed25519');
    assert.equal(knownHosts, '/home/ann/.local/state/gpu-rental/known_hosts');
  });

  it('keeps a profile for each service, and the key apart from it', () => {
    const kept = store();
    kept.keepSignIn(a, profile, 'gpur_a');
    kept.keepSignIn(b, { ...profile, email: 'bob@example.com' }, 'gpur_b');
    assert.equal(kept.currentUrl(), b);
    assert.deepEqual(kept.profile(a), profile);
    assert.deepEqual(kept.credentials(a), { apiKey: 'gpur_a' });
    assert.doesNotMatch(readFileSync(kept.paths.profiles, 'utf8'), /gpur_/);
    kept.keepSecrets(b, { webhookSecret: 'whsec_x' });
    kept.forget(b);
    assert.deepEqual(kept.credentials(b), { webhookSecret: 'whsec_x' });
    assert.equal(kept.profile(b), undefined);
    kept.forget(a);
    assert.deepEqual(kept.credentials(a), {});
  });

  it('is readable by its owner only, also where the folder and file were open before', () => {
    const kept = store();
    mkdirSync(dirname(kept.paths.credentials), { recursive: true });
    writeFileSync(kept.paths.credentials, '{}');
    chmodSync(kept.paths.credentials, 0o644);
    kept.keepSignIn(a, profile, 'gpur_a');
    assert.equal(statSync(kept.paths.credentials).mode & 0o777, 0o600);
    assert.equal(statSync(kept.paths.profiles).mode & 0o777, 0o600);
  });

  it('is written as a whole or not at all, and leaves no drafts', () => {
    const kept = store();
    kept.keepSignIn(a, profile, 'gpur_a');
    const folder = dirname(kept.paths.credentials);
    // A folder in its place can't be replaced by a file.
    const file = join(folder, 'taken');
    mkdirSync(file);
    assert.throws(() => writePrivately(file, 'x'));
    assert.deepEqual(readdirSync(folder).toSorted(), ['credentials.json', 'profiles.json', 'taken']);
    assert.deepEqual(kept.credentials(a), { apiKey: 'gpur_a' });
  });

  it('says which file is broken, and how to go on', async () => {
    const ann = new GpuUser(a);
    const file = join(ann.home, '.config/gpu-rental/credentials.json');
    mkdirSync(dirname(file), { recursive: true });
    for (const broken of ['{"a":', '[]', '"x"']) {
      writeFileSync(file, broken);
      const { code, err } = await ann.type('balance');
      assert.equal(code, exitCodes.usage, err);
      assert.ok(err.replace(/\n/g, '').includes(file), err);
      assert.match(err, /gpu login/);
    }
  });

  it('takes addresses as people write them, and refuses what would send a key in the clear', () => {
    assert.equal(readUrl('gpu.example.com'), 'https://gpu.example.com');
    assert.equal(readUrl('https://gpu.example.com/v1/'), 'https://gpu.example.com');
    assert.equal(readUrl('https://example.com/gpu/'), 'https://example.com/gpu');
    assert.equal(readUrl('example.com/gpu/v1'), 'https://example.com/gpu');
    assert.equal(readUrl('http://localhost:8080/'), 'http://localhost:8080');
    assert.equal(readUrl('http://127.0.0.1:8080'), 'http://127.0.0.1:8080');
    for (const wrong of [
      'http://gpu.example.com',
      'http://127.0.0.1.example.com',
      'ftp://x',
      'https://a:b@x',
      'https://x/?a=b',
      'https://x/#a',
      'a b',
    ]) {
      assert.throws(() => readUrl(wrong), wrong);
    }
  });

  it('asks below the path of an address alone, and gives its key to nothing else', async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = (input) => {
      asked.push(new Request(input).url);
      return Promise.resolve(Response.json({}, { status: 500 }));
    };
    for (const line of ['balance', 'watch', 'rent x --yes'])
      await new GpuUser(`${a}/gpu/`, 'gpur_x').type(line, { fetch });
    assert.ok(asked.length >= 3);
    for (const url of asked) assert.ok(url.startsWith(`${a}/gpu/v1/`), url);
  });

  it('leaves a link where it is, and writes what it leads to', () => {
    const kept = store();
    const folder = dirname(kept.paths.credentials);
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere, { recursive: true });
    symlinkSync('elsewhere/keys.json', kept.paths.credentials);
    for (const key of ['gpur_a', 'gpur_b']) {
      kept.keepSignIn(a, profile, key);
      assert.ok(lstatSync(kept.paths.credentials).isSymbolicLink());
      assert.match(readFileSync(join(elsewhere, 'keys.json'), 'utf8'), new RegExp(key));
    }
    assert.deepEqual(readdirSync(elsewhere), ['keys.json']);
    kept.forget(a);
    assert.ok(lstatSync(kept.paths.credentials).isSymbolicLink());
    assert.deepEqual(readdirSync(elsewhere), [], 'no key is left behind the link');
  });

  it('says what to do about files that can’t be used', async () => {
    for (const spoil of [
      (file: string) => mkdirSync(file, { recursive: true }),
      (file: string) => symlinkSync('credentials.json', file),
    ]) {
      const ann = new GpuUser(a);
      const file = join(ann.home, '.config/gpu-rental/credentials.json');
      mkdirSync(dirname(file), { recursive: true });
      spoil(file);
      const { code, err } = await ann.type('balance');
      assert.equal(code, exitCodes.fault, err);
      assert.doesNotMatch(err, /report it/);
      assert.ok(err.replace(/\n/g, '').includes(file), err);
    }
  });

  it('needs no home where the environment says all, and leaves nothing in the folder where it is run', async () => {
    const before = readdirSync('.');
    const ann = Object.assign(new GpuUser('http://127.0.0.1:1', 'gpur_x'), { home: '' });
    assert.equal((await ann.type('balance')).code, exitCodes.network);
    for (const line of ['quote rtx-4090', 'login --key', 'logout']) {
      const { code, err } = await ann.type(line, { env: { GPU_API_KEY: '' }, input: 'gpur_x' });
      assert.equal(code, exitCodes.usage, `${line}: ${err}`);
      assert.doesNotMatch(err, /report it/);
    }
    assert.match((await ann.type('logout')).err, /Set HOME/);
    assert.deepEqual(readdirSync('.'), before);
  });

  it('names the place of a key that is none', async () => {
    for (const key of ['é', 'two words', '  ', 'a\nb']) {
      const { code, err } = await new GpuUser(a, key).type('balance');
      assert.equal(code, exitCodes.usage, err);
      assert.match(err, /^GPU_API_KEY holds no API key\./);
    }
    const ann = new GpuUser(a);
    new Store({ env: {}, home: ann.home }).keepSignIn(a, profile, 'gpur_\u0000');
    const { code, err } = await ann.type('balance');
    assert.equal(code, exitCodes.usage);
    assert.match(err.replace(/\n/g, ''), /credentials\.json holds no API key/);
  });

  it('is not even looked for where the environment says all', async () => {
    const ann = new GpuUser('http://127.0.0.1:1', 'gpur_x');
    assert.equal((await ann.type('balance')).code, exitCodes.network);
    assert.equal(existsSync(join(ann.home, '.config')), false);
  });
});
