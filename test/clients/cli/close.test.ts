import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closingWaitsAtMostDays, type AccountClosing } from '@gpu-rental/client';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { Store } from '../../../clients/cli/src/config/store.js';
import { closingWords } from '../../../clients/cli/src/views/closing.js';
import { closingLimits } from '../../../domain/accounts/closing.js';
import { DAY } from '../../../domain/durations.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { GpuUser } from './support/gpu.js';
import { mailedCode, Person } from './support/person.js';
import { keys } from './support/terminal.js';

describe('gpu account', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 600_000 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const closingOf = async (person: Person): Promise<AccountClosing> =>
    (await person.elsewhere.get('/v1/account/closing')).body as unknown as AccountClosing;
  /** Answers both questions. */
  const typing = (email: string) => ({ types: { ...mailedCode, 'To close it': email }, columns: 200 });
  /** Loses the answer to the request that closes. */
  const losing: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const answer = await fetch(request);
    if (!request.url.endsWith('/v1/account/close')) return answer;
    throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNRESET' } });
  };

  it('waits for as long as the service says', () => {
    assert.equal(closingWaitsAtMostDays, closingLimits.waitMs / DAY);
  });

  it('shows what closing would do, and changes nothing', async () => {
    await ann.pay(20);
    const { code, out } = await ann.withCode('account closing', { columns: 200 });
    assert.equal(code, 0);
    assert.match(out, /^Back to you +\$20\.00 to Visa ending in \d{4}\n\n/);
    assert.match(out, /You\s+can’t undo this\.\nClose it with: gpu account close\n$/);
    assert.equal((await closingOf(ann)).state, null);
  });

  it('tells all of it, wants the address typed, and then closes', async () => {
    await ann.pay(20);
    await ann.rent();
    const { code, out, err } = await ann.type('account close', typing(ann.email));
    assert.equal(code, 0, err);
    assert.match(err, /^To close your account, confirm that it’s you\.\nWe emailed a code to /);
    assert.match(err, /\nMachines +1 stops at once, and its disk is lost\nBack to you +\$\d+\.\d\d to Visa/);
    assert.ok(err.replace(/\s+/g, ' ').includes(closingWords({ ...(await closingOf(ann)), state: null })));
    assert.equal(out, 'Your account is being closed. To see how far it is: gpu account closing\n');
    const { state, machines } = await closingOf(ann);
    assert.deepEqual([state, machines], ['stopping', 1]);
  });

  it('keeps the account when another address is typed, or given', async () => {
    const typed = await ann.type('account close', {
      types: { ...mailedCode, 'To close it': 'somebody@example.com', 'or press ctrl-C': keys.ctrlC },
    });
    assert.equal(typed.code, exitCodes.givenUp, typed.err);
    assert.match(typed.err, /Your account stays open\./);
    const given = await ann.withCode('account close --confirm somebody@example.com');
    assert.equal(given.code, exitCodes.usage, given.err);
    assert.match(given.err, /not this account’s own address/);
    assert.equal((await closingOf(ann)).state, null);
  });

  it('tells all of it also where the address is given, which is compared every time', async () => {
    await ann.pay(20);
    const types = { 'Your email address': ann.email, ...mailedCode };
    const line = (email: string) => ann.type(`account close --confirm ${email}`, { types, columns: 200 });
    const { code, err } = await line(ann.email);
    assert.equal(code, 0, err);
    assert.match(err, /\nBack to you +\$20\.00 to Visa/);
    const other = await line('somebody@example.com');
    assert.equal(other.code, exitCodes.usage, other.err);
    assert.match(other.err, /not this account’s own address/);
  });

  it('asks nobody without a terminal, and --yes is no answer', async () => {
    const piped = await ann.type('account close --yes --json');
    assert.equal(piped.code, exitCodes.refused);
    assert.equal((await closingOf(ann)).state, null);
  });

  it('takes the address as an option, and gives JSON', async () => {
    const { code, out, err } = await ann.withCode(
      `account close --json --confirm ${ann.email.toUpperCase()}`,
    );
    assert.equal(code, 0, err);
    const told = JSON.parse(out) as AccountClosing & { signedOut: boolean };
    assert.deepEqual([told.state, told.signedOut], ['returning', false]);
  });

  it('says that the account may be closed when the answer is lost, and forgets nothing', async () => {
    const { code, err } = await ann.withCode(`account close --confirm ${ann.email} --json`, {
      fetch: losing,
    });
    assert.equal(code, exitCodes.committed);
    const told = JSON.parse(err.slice(err.indexOf('{'))) as { next: string; details: { outcome: string } };
    assert.deepEqual([told.next, told.details.outcome], ['Check with: gpu account closing', 'unknown']);
    const again = await ann.type('account close', {
      types: { 'Your email address': ann.email, ...mailedCode },
    });
    assert.equal(again.code, 0, again.err);
    assert.ok(!again.err.includes('To close it'), 'asking again changes nothing, so nothing is asked');
  });

  it('forgets the sign-ins of this account here, its machines, and no others', async () => {
    const user = new GpuUser(mock.url);
    const store = new Store({ env: {}, home: user.home });
    const bob = { email: 'bob@example.com', keyId: null, keyExpiresAt: null };
    const mine = { email: ann.email, keyId: null, keyExpiresAt: null };
    store.keepSignIn(mock.url, mine, ann.apiKey!);
    store.keepSignIn(`${mock.url}#agent`, mine, ann.apiKey!);
    store.keepSignIn(`${mock.url}#bob`, bob, ann.apiKey!);
    const { machines, knownHosts } = store.paths;
    for (const folder of [machines, knownHosts]) mkdirSync(folder, { recursive: true });
    const pins = [mock.url, `${mock.url}#bob`].map((place, index) => ({
      place,
      id: `rent_0000000000000000000000000${index}`,
    }));
    for (const { place, id } of pins) {
      writeFileSync(join(machines, id), JSON.stringify({ place, rental: { id, name: null } }));
      writeFileSync(join(knownHosts, id), '');
    }
    const { code, out, err } = await user.type(`account close --confirm ${ann.email}`, {
      types: mailedCode,
      columns: 200,
    });
    assert.equal(code, 0, err);
    assert.ok(out.includes(`Signed out of ${mock.url}. This computer forgot your machines there.\n`), out);
    assert.deepEqual(
      store.signIns().map(({ email }) => email),
      ['bob@example.com'],
    );
    assert.deepEqual([readdirSync(machines), readdirSync(knownHosts)], [[pins[1]!.id], [pins[1]!.id]]);
    assert.ok(!existsSync(store.paths.sshConfig));
    assert.match((await user.type('balance')).err, /You are not signed in/);
  });

  /** Signs this computer in twice, keeps the secret of its webhooks, and names a machine for ssh. */
  const signedInTwice = (user: GpuUser): Store => {
    const store = new Store({ env: {}, home: user.home });
    for (const place of [mock.url, `${mock.url}#agent`]) {
      store.keepSignIn(place, { email: ann.email, keyId: null, keyExpiresAt: null }, ann.apiKey!);
      store.keepSecrets(place, { webhookSecret: 'whsec_x' });
      mkdirSync(store.paths.sshConfig, { recursive: true });
      writeFileSync(join(store.paths.sshConfig, `${encodeURIComponent(place)}.conf`), 'Host gpu-a\n');
    }
    return store;
  };

  const hindrances = {
    'is not UTF-8': {
      says: /config is not UTF-8 text, so we did not change it\./,
      env: () => ({}),
      home: true,
    },
    'can’t be found': {
      says: /There is no home folder for ~\/\.ssh\/config\. Set HOME\./,
      env: (home: string) => ({
        XDG_CONFIG_HOME: join(home, '.config'),
        XDG_STATE_HOME: join(home, '.local', 'state'),
      }),
      home: false,
    },
  };
  for (const [what, { says, env, home }] of Object.entries(hindrances)) {
    it(`forgets all of it although ssh’s own configuration ${what}`, async () => {
      const user = new GpuUser(mock.url);
      const store = signedInTwice(user);
      mkdirSync(join(user.home, '.ssh'));
      writeFileSync(join(user.home, '.ssh', 'config'), Buffer.from([0x23, 0xff, 0x0a]));
      const options = { types: mailedCode, env: env(user.home) };
      if (!home) Object.assign(user, { home: '' });
      const { code, out, err } = await user.type(`account close --json --confirm ${ann.email}`, options);
      assert.equal(code, 0, err);
      assert.equal((JSON.parse(out) as { signedOut: boolean }).signedOut, true);
      assert.equal(err.match(new RegExp(says, 'g'))?.length, 1, err);
      assert.deepEqual(store.signIns(), []);
      assert.ok(!existsSync(store.paths.credentials), 'no secret of its webhooks either');
      assert.deepEqual(readdirSync(store.paths.sshConfig), []);
    });
  }

  it('leads whoever signs in again to how far it is', async () => {
    await ann.withCode(`account close --confirm ${ann.email}`);
    const { code, err } = await new GpuUser(mock.url).type('login', {
      types: { 'Your email address': ann.email, ...mailedCode },
      columns: 200,
    });
    assert.equal(code, exitCodes.refused);
    assert.match(
      err,
      /being closed, so nothing new can begin\.\nSee how far it is with: gpu account closing\n/,
    );
  });

  it('shows how far it is to somebody who is signed in no more', async () => {
    await ann.withCode(`account close --confirm ${ann.email}`);
    const stranger = new GpuUser(mock.url);
    const { out, err } = await stranger.type('account closing', {
      types: { 'Your email address': ann.email, ...mailedCode },
      columns: 200,
    });
    assert.match(out, /^State +giving your money back\n/, err);
    // Before the service has looked: this account never had a machine.
    const begun: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const answer = await fetch(request);
      if (!request.url.endsWith('/v1/account/closing')) return answer;
      return Response.json({ ...((await answer.json()) as object), state: 'stopping' });
    };
    const early = await stranger.type('account closing', {
      ...{ types: { 'Your email address': ann.email, ...mailedCode }, columns: 200, fetch: begun },
    });
    assert.match(early.out, /^State +stopping whatever still runs\n/, early.err);
  });
});
