import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Store } from '../../../clients/cli/src/config/store.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { ApiClient } from '../../support/http/api.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';
import { gpuLine, keys, Terminal } from './support/terminal.js';

/** What the list of keys tells of one. */
interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly revokedAt: string | null;
}

describe('gpu login', () => {
  let mock: MockServer;
  const terminals: Terminal[] = [];

  before(async () => {
    mock = await startMock({ port: 0 });
  });
  afterEach(() => terminals.splice(0).forEach((terminal) => terminal.kill()));
  after(() => mock.stop());

  async function open(
    user: GpuUser,
    line: string,
    env: Record<string, string> = {},
    columns = 40,
  ): Promise<Terminal> {
    const terminal = new Terminal(`${await gpuLine()} ${line}`, {
      env: { HOME: user.home, GPU_API_URL: mock.url, ...env },
      columns,
    });
    terminals.push(terminal);
    return terminal;
  }

  async function logIn(user: GpuUser, email: string, env: Record<string, string> = {}): Promise<Terminal> {
    const terminal = await open(user, 'login', env);
    await terminal.sees('Your email address');
    terminal.enter(email);
    await terminal.sees('Six-digit code');
    terminal.enter('123456');
    assert.equal(await terminal.ended(), 0, terminal.shown);
    return terminal;
  }

  /** The keys of an account, as its owner sees them elsewhere. */
  async function keysOf(email: string): Promise<ListedKey[]> {
    const elsewhere = new ApiClient(mock.url);
    await elsewhere.post('/v1/auth/verify-code', { email, code: '123456' });
    return ((await elsewhere.get('/v1/api-keys')).body as unknown as { apiKeys: ListedKey[] }).apiKeys;
  }

  const credentialsOf = (user: GpuUser): string => join(user.home, '.config/gpu-rental/credentials.json');

  it('asks for the address and the code in a terminal of 40 columns, and keeps a key that expires', async () => {
    const user = new GpuUser(mock.url);
    const { shown } = await logIn(user, 'login1@example.com');
    assert.match(
      shown.replace(/\s+/g, ' '),
      /Signed in as login1@example\.com until \d{4}-\d\d-\d\d\. In your wallet: \$0\.00\./,
    );
    assert.equal(statSync(credentialsOf(user)).mode & 0o777, 0o600);
    const { apiKey } = new Store({ env: {}, home: user.home }).credentials(mock.url);
    assert.ok(apiKey !== undefined);
    assert.match(apiKey, /^gpur_[0-9A-Za-z]{36}$/);
    assert.ok(!shown.includes(apiKey));
    const [made] = await keysOf('login1@example.com');
    assert.match(made!.name, /^gpu on /);
    assert.deepEqual(made!.scopes, ['read', 'rentals', 'billing']);
    assert.equal((await user.type('balance')).code, 0, 'the key is used');
    assert.equal(
      (await user.type('balance', { env: { GPU_API_URL: '' } })).code,
      0,
      'where they signed in last',
    );
  });

  it('revokes the key of before when somebody signs in again', async () => {
    const user = new GpuUser(mock.url);
    const email = 'login2@example.com';
    await logIn(user, email);
    const { shown } = await logIn(user, email);
    assert.match(shown.replace(/\s+/g, ' '), /This computer’s previous key is revoked\./);
    const states = (await keysOf(email)).map(({ revokedAt }) => revokedAt === null);
    assert.deepEqual(states.toSorted(), [false, true]);
    assert.equal((await user.type('balance')).code, 0);
  });

  it('asks again for a code that is no code, and leaves nothing behind after ctrl-C', async () => {
    const user = new GpuUser(mock.url);
    const terminal = await open(user, 'login --email login3@example.com');
    await terminal.sees('Six-digit code');
    terminal.enter('12345');
    await terminal.sees('Enter six digits.');
    terminal.press(keys.ctrlC);
    assert.equal(await terminal.ended(), exitCodes.givenUp, terminal.shown);
    await terminal.sees('You are not signed in.');
    assert.equal(existsSync(credentialsOf(user)), false);
  });

  it('writes no colours at a terminal under NO_COLOR, in its questions either', async () => {
    const colour = new RegExp(String.raw`\u001b\[[0-9;]*m`);
    const plain = await logIn(new GpuUser(mock.url), 'login4@example.com', { NO_COLOR: '1' });
    assert.doesNotMatch(plain.written, colour);
    const coloured = await logIn(new GpuUser(mock.url), 'login5@example.com');
    assert.match(coloured.written, colour);
  });

  it('asks for a key without showing it, and takes none among the arguments', async () => {
    const { apiKey = '' } = await Person.at(mock);
    const user = new GpuUser(mock.url);
    const typed = await user.type('login --key', { types: { 'The key': apiKey } });
    assert.equal(typed.code, 0, typed.err);
    assert.ok(!(typed.out + typed.err).includes(apiKey));
    assert.equal((await user.type('balance')).code, 0);
    const other = new GpuUser(mock.url);
    for (const line of [`login --key ${apiKey}`, `login --key=${apiKey}`, `login ${apiKey}`]) {
      const { code, out, err } = await other.type(line);
      assert.equal(code, exitCodes.usage, line);
      assert.ok(!(out + err).includes(apiKey), err);
    }
    assert.match(
      (await other.type(`login --key ${apiKey}`)).err.replace(/\s+/g, ' '),
      /^Pass no key as an argument: .* pipe it in: gpu login --key < FILE\. /,
    );
    assert.equal(existsSync(credentialsOf(other)), false);
  });

  it('takes a key that is piped in, and refuses what is none', async () => {
    const { apiKey } = await Person.at(mock);
    const user = new GpuUser(mock.url);
    const { code, out, err } = await user.type('login --key', { input: `${apiKey ?? ''}\n` });
    assert.equal(code, 0, err);
    assert.match(out, /^Signed in with a key\. In your wallet: \$0\.00\./);
    assert.equal((await user.type('balance')).code, 0);
    const dash = await user.type('login --key -', { input: apiKey ?? '' });
    assert.equal(dash.code, 0, dash.err);
    const other = new GpuUser(mock.url);
    assert.equal((await other.type('login --key', { input: 'secret' })).code, exitCodes.usage);
    const wrong = await other.type('login --key', { input: `gpur_${'A'.repeat(36)}` });
    assert.equal(wrong.code, exitCodes.signedOut, wrong.err);
    assert.equal(existsSync(credentialsOf(other)), false);
  });

  it('keeps the sign-in of another account beside a new one, and names it', async () => {
    const user = new GpuUser(mock.url);
    await logIn(user, 'login8@example.com');
    const { shown } = await logIn(user, 'login9@example.com');
    assert.match(
      shown.replace(/\s+/g, ' '),
      /login8@example\.com stays signed in here, too: gpu --profile login8@example\.com/,
    );
    const whoami = async (more = '', env = {}) =>
      user.json<{ user: { email: string }; others: { email: string; profile: string | null }[] }>(
        `whoami${more}`,
        { env },
      );
    const now = await whoami();
    assert.equal(now.user.email, 'login9@example.com');
    assert.deepEqual(
      now.others.map(({ email, profile }) => [email, profile]),
      [['login8@example.com', 'login8@example.com']],
    );
    const before = await whoami(' --profile login8@example.com');
    assert.equal(before.user.email, 'login8@example.com');
    assert.equal(
      (await whoami('', { GPU_PROFILE: 'login8@example.com', GPU_API_URL: '' })).user.email,
      'login8@example.com',
    );
    const text = await user.type('whoami');
    assert.match(text.out, /^Account +login9@example\.com\n/);
    const unknown = await user.type('balance --profile other');
    assert.equal(unknown.code, exitCodes.signedOut);
    assert.match(unknown.err.replace(/\s+/g, ' '), /gpu login --profile other\. Profiles there: login8@/);
    // A key that is given takes the place of no other one in silence either.
    const { apiKey = '' } = await Person.at(mock);
    const keyed = await user.json<{ replaced: { email: string; profile: string; revoked: boolean } }>(
      'login --key',
      { input: apiKey },
    );
    assert.deepEqual(
      [keyed.replaced.email, keyed.replaced.profile, keyed.replaced.revoked],
      ['login9@example.com', 'login9@example.com', false],
    );
    assert.equal((await user.type('logout --profile login8@example.com')).code, 0);
    assert.equal((await user.type('balance --profile login8@example.com')).code, exitCodes.signedOut);
    assert.equal((await user.type('balance --profile login9@example.com')).code, 0);
  });

  it('revokes the key that it made and can’t keep', async () => {
    const user = new GpuUser(mock.url);
    writeFileSync(join(user.home, 'file'), '');
    const email = 'login10@example.com';
    const { code, err } = await user.type(`login --email ${email}`, {
      types: { 'Six-digit code': '123456' },
      env: { XDG_CONFIG_HOME: join(user.home, 'file') },
    });
    assert.equal(code, exitCodes.fault, err);
    assert.match(err.replace(/\s+/g, ' '), /not a folder\. The new key is revoked\./);
    assert.deepEqual(
      (await keysOf(email)).map(({ revokedAt }) => revokedAt === null),
      [false],
    );
  });

  it('names the key whose answer was lost, and the one that it can neither keep nor revoke', async () => {
    const user = new GpuUser(mock.url);
    writeFileSync(join(user.home, 'file'), '');
    const losing =
      (which: RegExp): typeof fetch =>
      async (input, init) => {
        const request = new Request(input, init);
        const response = await fetch(request);
        if (!which.test(`${request.method} ${request.url}`)) return response;
        throw Object.assign(new TypeError('fetch failed'), { code: 'ECONNRESET' });
      };
    for (const [email, which, env, told] of [
      ['login11@example.com', /^POST .*api-keys$/, {}, () => '"gpu on laptop"'],
      ['login12@example.com', /^DELETE /, { XDG_CONFIG_HOME: join(user.home, 'file') }, (id: string) => id],
    ] as const) {
      const types = { 'Six-digit code': '123456' };
      const { code, err } = await user.type(`login --email ${email}`, { types, env, fetch: losing(which) });
      assert.equal(code, exitCodes.committed, err);
      const [made] = await keysOf(email);
      assert.ok(err.replace(/\s+/g, ' ').includes(told(made!.id)), err);
    }
  });

  it('forgets the key at logout, and says until when it would have been valid', async () => {
    const user = new GpuUser(mock.url);
    const email = 'login6@example.com';
    await logIn(user, email);
    const { code, out } = await user.type('logout');
    assert.equal(code, 0);
    assert.match(out, /^Signed out of http.*\.\nThe key stays valid until /);
    assert.equal(existsSync(credentialsOf(user)), false);
    assert.equal((await user.type('balance')).code, exitCodes.signedOut);
    assert.match((await user.type('logout')).out, /^You were not signed in/);
  });

  it('makes and revokes keys, and stores SSH keys, after a mailed code', async () => {
    const user = new GpuUser(mock.url);
    const email = 'login7@example.com';
    await logIn(user, email);
    const asked = async (line: string): Promise<Terminal> => {
      const terminal = await open(user, line, {}, 100);
      await terminal.sees('Six-digit code');
      terminal.enter('123456');
      assert.equal(await terminal.ended(), 0, terminal.shown);
      return terminal;
    };
    const created = await asked('keys create ci --scopes read,billing --days 7');
    const key = /gpur_[0-9A-Za-z]{36}/.exec(created.shown)![0];
    const ci = new GpuUser(mock.url, key);
    assert.equal((await ci.type('balance')).code, 0);
    await user.run(['quote', 'rtx-4090']);
    const own = join(user.home, '.local/share/gpu-rental/id_ed25519.pub');
    const refused = await ci.type('rent rtx-4090 --yes');
    assert.equal(refused.code, exitCodes.refused, refused.err);
    const listed = await asked('keys');
    assert.match(listed.shown, /\n *ci +.* read,billing +/);
    assert.match(listed.shown, /gpu on .* \*/);
    await asked('keys revoke ci');
    assert.equal((await ci.type('balance')).code, exitCodes.signedOut);
    await asked(`keys ssh add ${own} --name laptop`);
    assert.match((await user.type('keys ssh')).out, /^NAME +BY +ADDED .*\nlaptop +you /);
    await asked('keys ssh remove laptop');
    assert.match((await user.type('keys ssh')).out, /^No stored SSH keys\./);
  });
});
