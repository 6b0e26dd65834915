import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly hint: string;
  readonly scopes: readonly string[];
  readonly allowedCidrs: readonly string[] | null;
  readonly expiresAt: string;
  readonly spendCapCents: number | null;
  readonly spentCents: number;
  readonly reservedCents: number;
  readonly revokedAt: string | null;
}

describe('gpu keys', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, tickMs: 50, endMs: 20 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  async function keyNamed(name: string): Promise<Key> {
    const { apiKeys } = (await ann.elsewhere.get('/v1/api-keys')).body as unknown as { apiKeys: Key[] };
    return apiKeys.find((key) => key.name === name)!;
  }

  /** Makes a key, and somebody who has it. */
  async function create(line: string): Promise<{ key: Key; program: GpuUser }> {
    const { code, out, err } = await ann.withCode(`keys create ${line} --json`);
    assert.equal(code, 0, err);
    const key = JSON.parse(out) as Key & { key: string };
    return { key, program: new GpuUser(mock.url, key.key) };
  }

  describe('create', () => {
    it('makes a key with a cap, scopes and addresses, shows it once, and tells what it may do', async () => {
      const line =
        'keys create ci --spend-cap 20 --scopes read,rentals --from 203.0.113.0/24 --from 2001:db8::/32';
      const { code, out, err } = await ann.withCode(`${line} --days 7`);
      assert.equal(code, 0, err);
      assert.match(err, /^To create a key, confirm that it’s you\.\n/);
      const [key = ''] = out.split('\n');
      assert.match(key, /^gpur_[0-9A-Za-z]{36}$/, 'the first line is the key alone');
      assert.match(out, /\nMay +read, rentals\nCap +\$20\.00\nFrom +203\.0\.113\.0\/24, 2001:db8::\/32\n/);
      assert.match(out, /\nSave it now: it is not shown again\.\n/);
      const made = await keyNamed('ci');
      assert.deepEqual(
        [made.scopes, made.spendCapCents, made.allowedCidrs],
        [['read', 'rentals'], 2_000, ['203.0.113.0/24', '2001:db8::/32']],
      );
      const days = (Date.parse(made.expiresAt) - Date.now()) / 86_400_000;
      assert.ok(days > 6.9 && days <= 7);
      const elsewhere = await new GpuUser(mock.url, key).type('ls');
      assert.equal(elsewhere.code, exitCodes.refused);
      assert.match(elsewhere.err, /Use a key that is allowed from here: gpu keys/);
    });

    it('gives JSON with the key in it', async () => {
      const { key, program } = await create('agent --spend-cap 12.50 --from 127.0.0.1 --from ::1');
      assert.deepEqual(
        [key.name, key.spendCapCents, key.scopes, key.allowedCidrs],
        ['agent', 1_250, ['read', 'rentals', 'billing'], ['127.0.0.1/32', '::1/128']],
      );
      assert.equal((await program.type('balance')).code, 0);
    });

    it('refuses what is wrong in the words of the command line, and makes nothing', async () => {
      const wrong: Readonly<Record<string, RegExp>> = {
        'keys create': /Missing required argument 'name'/,
        'keys create x --scopes all': /--scopes takes read, rentals, billing/,
        'keys create x --spend-cap 0': /It must be an amount in dollars/,
        'keys create x --days 400': /It must be a whole number from 1 to 365/,
        'keys create x --from nowhere': /\n--from must be an IP address or a range such as 192\.0\.2\.0\/24/,
        'keys create x --spend-cap 99999999': /\n--spend-cap must be at most \$10,000,000\.00\./,
      };
      for (const [line, message] of Object.entries(wrong)) {
        const { code, out, err } = await ann.withCode(line, { columns: 200 });
        assert.deepEqual([code, out], [exitCodes.usage, ''], line);
        assert.match(`\n${err.replace('\u001b[?25h', '\n')}`, message, err);
      }
      const told = JSON.parse((await ann.type('keys create x --json')).err) as Record<string, unknown>;
      assert.deepEqual(
        [told['error'], told['exitCode']],
        ['refused', exitCodes.refused],
        'no terminal, no code',
      );
      assert.equal(await keyNamed('x'), undefined);
    });
  });

  describe('change', () => {
    it('sets cap, name and addresses, and takes limits away', async () => {
      await create('ci --spend-cap 20');
      const { code, out, err } = await ann.withCode(
        'keys change ci --spend-cap 30 --name build --from 127.0.0.1',
      );
      assert.equal(code, 0, err);
      assert.match(
        out,
        /^Name +build\nMay +read, rentals, billing\nCap +\$30\.00\nFrom +127\.0\.0\.1\/32\nUntil /,
      );
      const { out: json } = await ann.withCode('keys change build --no-cap --anywhere --json');
      const changed = JSON.parse(json) as Key;
      assert.deepEqual([changed.spendCapCents, changed.allowedCidrs, changed.name], [null, null, 'build']);
      const free = await ann.withCode(`keys change ${changed.hint} --name other`);
      assert.match(free.out, /\nCap +none\nFrom +anywhere\n/);
    });

    it('lowers a cap to what is spent and reserved, and says so', async () => {
      await ann.pay(50);
      const { program } = await create('ci --spend-cap 20');
      assert.equal((await program.type('rent rtx-4090 --max-spend 7 --yes')).code, 0);
      const { out } = await ann.withCode('keys change ci --spend-cap 5', { columns: 100 });
      assert.match(out, /\nCap +\$7\.00, \$0\.00 spent, \$7\.00 reserved\n/);
      assert.match(
        out,
        /\n\$5\.00 is less than it has already spent and reserved, so its cap is now that sum\.\n$/,
      );
      const refused = await program.type('rent rtx-4090 --max-spend 1 --yes');
      assert.equal(refused.code, exitCodes.noMoney);
      assert.match(refused.err, /This key’s cap is \$7\.00\. \$0\.00 is left/);
    });

    it('leads a key with a cap to one that sees the whole account, at a terminal too', async () => {
      const { program } = await create('ci --spend-cap 20');
      for (const options of [{}, { types: {} }]) {
        const { code, err } = await program.type('ledger', { columns: 200, ...options });
        assert.equal(code, exitCodes.refused);
        assert.match(
          err,
          /^This API key has a cap, so it sees only its own rentals and their bills\. [^]*\nUse a key that can do this: gpu keys, or sign in again with: gpu login\n/,
        );
        assert.doesNotMatch(err, /a code that we email/);
      }
    });

    it('refuses a first cap while a machine of the key has no limit, and names it', async () => {
      await ann.pay(50);
      const { program } = await create('ci');
      const { out } = await program.type('rent rtx-4090 --yes --json');
      const id = (JSON.parse(out) as { id: string }).id.slice(-6);
      await ann.rent();
      const { code, err } = await ann.withCode('keys change ci --spend-cap 5', { columns: 100 });
      assert.equal(code, exitCodes.refused);
      assert.ok(
        err.includes(`This key can’t have a cap while it has machines without a spending limit: ${id}.\n`),
        err,
      );
      assert.ok(err.includes(`gpu extend ${id} --max-spend 20. Or stop it: gpu stop ${id}\n`), err);
      assert.equal((await keyNamed('ci')).spendCapCents, null);
    });

    it('refuses contradictions before it asks for a code', async () => {
      const lines = ['', ' --spend-cap 5 --no-cap', ' --from 127.0.0.1 --anywhere'].map(
        (more) => `keys change ci${more}`,
      );
      for (const line of lines) {
        const { code, err } = await ann.withCode(line);
        assert.equal(code, exitCodes.usage, line);
        assert.ok(!err.includes('We emailed a code'), line);
      }
    });

    it('finds a key by its name only when it is the only one, and names their endings otherwise', async () => {
      const hints = [(await create('twin')).key.hint, (await create('twin')).key.hint];
      const { code, err } = await ann.withCode('keys change twin --spend-cap 5', { columns: 100 });
      assert.equal(code, exitCodes.usage);
      assert.match(err, /Several keys are called "twin"\.\nUse its last characters: /);
      for (const hint of hints) assert.ok(err.includes(hint));
      assert.equal((await ann.withCode(`keys change ${hints[0]} --spend-cap 5`)).code, 0);
      const unknown = await ann.withCode('keys revoke nobody');
      assert.equal(unknown.code, exitCodes.notFound);
      assert.match(unknown.err, /You have no key "nobody"\.\nSee your keys with: gpu keys\n/);
    });
  });

  describe('revoke', () => {
    it('stops the machines of that key, and no others', async () => {
      await ann.pay(50);
      const [ci, other] = [await create('ci --spend-cap 5'), await create('other')];
      const rented = async (program: GpuUser): Promise<string> =>
        (JSON.parse((await program.type('rent rtx-4090 --yes --json')).out) as { id: string }).id;
      const theirs = [await rented(ci.program), await rented(ci.program)];
      const going = [await rented(other.program), await ann.rent()];
      const { code, out, err } = await ann.withCode('keys revoke ci --stop-machines');
      assert.equal(code, 0, err);
      assert.equal(out, 'Revoked ci. Its machines are stopping.\n');
      assert.equal((await ci.program.type('ls')).code, exitCodes.signedOut);
      const { rentals } = await ann.json<{ rentals: { id: string; status: string }[] }>('ls');
      const running = rentals.filter(({ status }) => status === 'running').map(({ id }) => id);
      assert.deepEqual(running.toSorted(), going.toSorted());
      for (const id of theirs) {
        await until('it has ended', async () => {
          const rental = await ann.json<{ status: string; stopReason: string }>(`show ${id}`);
          return rental.status === 'stopped' && rental.stopReason === 'user';
        });
      }
      assert.equal((await keyNamed('ci')).reservedCents, 0);
    });

    it('lets its machines go on otherwise, and may stop them later', async () => {
      await ann.pay(50);
      const { key, program } = await create('ci');
      const { id } = JSON.parse((await program.type('rent rtx-4090 --yes --json')).out) as { id: string };
      const { out } = await ann.withCode('keys revoke ci', { columns: 100 });
      assert.equal(out, 'Revoked ci. Its machines keep running: gpu ls\n');
      assert.equal((await ann.json<{ status: string }>(`show ${id}`)).status, 'running');
      assert.equal((await ann.withCode('keys revoke ci')).code, exitCodes.notFound);
      // What is kept here can't be reached, which the key does not mind.
      const unreachable = { XDG_CONFIG_HOME: '/dev/null' };
      const again = await ann.withCode(`keys revoke ${key.id}`, { columns: 100, env: unreachable });
      assert.equal(again.code, 0, again.err);
      assert.match(again.err, /part of its path is not a folder/);
      const later = await ann.withCode(`keys revoke ${key.id} --stop-machines --json`);
      assert.deepEqual(JSON.parse(later.out), {
        ...{ id: key.id, revoked: true },
        ...{ stopMachines: true, removeMade: false },
      });
      assert.notEqual((await ann.json<{ status: string }>(`show ${id}`)).status, 'running');
    });
  });

  it('make keys that set up without a terminal, and whose work goes with them', async () => {
    const { key, program } = await create('terraform --setup --days 30');
    assert.deepEqual(key.scopes, ['read', 'setup']);
    const both = await ann.withCode('keys create x --setup --agent');
    assert.deepEqual(
      [both.code, both.err.includes('Use either --setup or --agent')],
      [exitCodes.usage, true],
    );
    const made = await program.type('webhooks create https://example.com/ci --json');
    assert.equal(made.code, 0, made.err);
    const { id, secret } = JSON.parse(made.out) as { id: string; secret: string };
    assert.match(secret, /^whsec_/);
    assert.equal((await program.type(`webhooks rotate ${id}`)).code, 0);
    assert.equal((await program.type('budget set 50 --hard')).code, 0);
    const raised = await program.type('budget set 60 --hard');
    assert.equal(raised.code, exitCodes.refused);
    assert.match(raised.err, /^This API key can set a lower budget only\./);
    assert.equal((await program.type('keys create more')).code, exitCodes.refused);
    const { out } = await ann.withCode('keys revoke terraform --remove-made');
    assert.match(out, /^Revoked terraform\. The webhooks and SSH keys that it made are gone\. /);
    assert.deepEqual(await ann.json<{ webhooks: object[] }>('webhooks list'), { webhooks: [] });
    assert.equal((await ann.withCode('budget off')).code, 0);
  });

  it('lists keys with what they may and did, in 40 columns and in 100', async () => {
    await create('agent --agent --spend-cap 10 --days 30');
    await create(`reader --scopes read`);
    const narrow = await ann.withCode('keys', { columns: 40 });
    assert.equal(narrow.code, 0, narrow.err);
    assert.match(narrow.out, /agent[^]*\$0\.00 of \$10\.00/, 'the cap is among what stays');
    const wide = await ann.withCode('keys', { columns: 100 });
    assert.match(wide.out, /^NAME +ENDS WITH +MAY +SPENT +STATE +USED\n/);
    assert.match(wide.out, /^agent .* read,rentals,billing \(own\) /m);
    const { out } = await ann.withCode('keys --json');
    assert.equal((JSON.parse(out) as { apiKeys: unknown[] }).apiKeys.length, 3);
    const lines = [
      'keys',
      'keys create x --from 203.0.113.0/24',
      'keys change x --spend-cap 5',
      'keys revoke x',
    ];
    const helps = ['create', 'change', 'revoke'].map((verb) => `keys ${verb} --help`);
    for (const columns of [40, 100]) {
      for (const line of [...lines, ...helps]) {
        const ran = await ann.withCode(line, { columns });
        assert.equal(ran.code, 0, ran.err);
        // What is copied stays whole: keys and ids.
        const broad = ran.out.split('\n').filter((each) => widthOf(each) > columns && !/\S{28,}/.test(each));
        assert.deepEqual(broad, [], line);
      }
    }
  });
});
