import assert from 'node:assert/strict';
import fs, {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { GpuUser, type RunOptions } from './support/gpu.js';

describe('the key pair of this machine', () => {
  let ann: GpuUser;
  let file: string;

  beforeEach(() => {
    ann = new GpuUser('http://127.0.0.1:9', 'gpur_x');
    file = join(ann.home, '.local/share/gpu-rental/id_ed25519');
    mkdirSync(dirname(file), { recursive: true });
  });

  /** Rents as far as to the quote. @returns the public half that goes with it, and what is told */
  async function send(options: RunOptions = {}): Promise<{ sent: string | undefined; err: string }> {
    const asked: { sshPublicKeys: string[] }[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.method === 'POST') asked.push((await request.json()) as { sshPublicKeys: string[] });
      return Response.json({ error: 'internal_error', message: 'No.', requestId: 'req' }, { status: 500 });
    };
    const { err } = await ann.type('rent rtx-4090 --yes', { fetch, ...options });
    return { sent: asked[0]?.sshPublicKeys[0], err };
  }

  /** The public half that the private one gives. */
  async function derived(): Promise<string> {
    const { stdout, stderr } = await runProgram('ssh-keygen', ['-y', '-f', file]);
    assert.equal(stderr, '');
    return stdout.trim();
  }

  async function isOnePair(sent: string | undefined): Promise<void> {
    assert.equal(sent, await derived());
    assert.equal(readFileSync(`${file}.pub`, 'utf8').trim(), sent);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(dirname(file)).toSorted(), ['id_ed25519', 'id_ed25519.pub']);
  }

  it('stays, once it is made', async () => {
    const { sent } = await send();
    await isOnePair(sent);
    assert.equal((await send({ run: () => Promise.reject(new Error('not needed')) })).sent, sent);
  });

  it('gets its public half again from the private one', async () => {
    const { sent } = await send();
    for (const spoil of [
      () => rmSync(`${file}.pub`),
      () => writeFileSync(`${file}.pub`, ''),
      () => writeFileSync(`${file}.pub`, `ssh-ed25519 ${'A'.repeat(68)} gpu-rental\n`),
    ]) {
      spoil();
      assert.equal((await send()).sent, sent);
      await isOnePair(sent);
    }
  });

  it('is another one where the private half is gone: the public one is of no use', async () => {
    const { sent: before } = await send();
    rmSync(file);
    const { sent } = await send();
    assert.notEqual(sent, before);
    await isOnePair(sent);
  });

  it('is one pair for commands that begin at once', async () => {
    const all = await Promise.all([send(), send(), send()]);
    for (const { sent } of all) await isOnePair(sent);
  });

  it('keeps the half of a command that was first, though another one wrote its own public half before', async () => {
    const { sent: first } = await send();
    const kept = readFileSync(file);
    rmSync(file);
    rmSync(`${file}.pub`);
    // Another command puts its private half there while this one makes its pair.
    const run: typeof runProgram = async (...asked) => {
      const ended = await runProgram(...asked);
      writeFileSync(file, kept, { mode: 0o600 });
      return ended;
    };
    assert.equal((await send({ run })).sent, first);
    await isOnePair(first);
  });

  it('takes a pair of another kind or form', async () => {
    await runProgram('ssh-keygen', [
      '-q',
      '-t',
      'rsa',
      '-m',
      'PEM',
      '-N',
      '',
      '-C',
      'gpu-rental',
      '-f',
      file,
    ]);
    rmSync(`${file}.pub`);
    const { sent } = await send();
    assert.match(sent ?? '', /^ssh-rsa /);
    assert.equal(sent?.split(' ').slice(0, 2).join(' '), await derived());
  });

  it('says which file holds no key', async () => {
    writeFileSync(file, 'nonsense', { mode: 0o600 });
    const { sent, err } = await send();
    assert.equal(sent, undefined);
    assert.ok(err.replace(/\s/g, '').includes(file), err);
    assert.match(err.replace(/\s+/g, ' '), /is not a private key.*Move it away/);
    assert.equal(readFileSync(file, 'utf8'), 'nonsense');
  });

  it('says what is in its place', async () => {
    for (const spoil of [() => mkdirSync(file), () => symlinkSync('nowhere', file)]) {
      spoil();
      const { sent, err } = await send();
      assert.equal(sent, undefined);
      assert.ok(err.replace(/\s/g, '').includes(file), err);
      assert.match(err.replace(/\s+/g, ' '), /Move (it|away what is there)/);
      rmSync(file, { recursive: true });
    }
  });

  it('is made also where a disk knows no hard links', async () => {
    const { linkSync } = fs;
    for (const code of ['EPERM', 'ENOTSUP', 'EACCES']) {
      fs.linkSync = () => {
        throw Object.assign(new Error(code), { code, syscall: 'link' });
      };
      syncBuiltinESMExports();
      try {
        rmSync(file, { force: true });
        const { sent, err } = await send();
        assert.doesNotMatch(err, /permissions/);
        await isOnePair(sent);
      } finally {
        fs.linkSync = linkSync;
        syncBuiltinESMExports();
      }
    }
  });

  it('says that OpenSSH is missing', async () => {
    const run = () => Promise.reject(Object.assign(new Error('spawn'), { code: 'ENOENT', syscall: 'spawn' }));
    const { code, err } = await ann.type('rent rtx-4090 --yes', { run });
    assert.equal(code, exitCodes.usage);
    assert.match(err, /There is no ssh-keygen on this computer/);
  });
});
