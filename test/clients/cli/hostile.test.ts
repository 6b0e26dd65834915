import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import type { Surroundings } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';

/** A sequence that clears the screen, one that sets the title, and marks that turn the direction of writing. */
const evil = '\u001b[2J\u001b]0;owned\u0007\u009b31m\u202eab\u2066cd\u200f\u2028';
const raw = new RegExp(
  String.raw`[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]`,
);

describe('gpu, at a service that means harm', () => {
  let mock: MockServer;
  let ann: Person;
  let first: string;
  let second: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(20);
    first = await ann.rent('rtx-4090 --name box');
    second = await ann.rent('rtx-4090 --name other');
  });
  after(() => mock.stop());

  /** Changes the answers of the mock, wherever they are. */
  const changing =
    (change: (text: string) => string): typeof fetch =>
    async (input, init) => {
      const response = await fetch(input, init);
      if (!response.headers.get('content-type')?.startsWith('application/json')) return response;
      return new Response(change(await response.text()), response);
    };

  const run: Surroundings['run'] = (program) => assert.fail(`${program} may not be run`);

  it('writes and removes no file by an id that is none', async () => {
    const keys = join(ann.home, '.ssh/authorized_keys');
    mkdirSync(join(ann.home, '.ssh'), { recursive: true });
    writeFileSync(keys, 'mine');
    const up = '../../../../.ssh/authorized_keys';
    for (const id of [up, `rent_${up}`, '', `-o${'A'.repeat(26)}`, `rent_${'A'.repeat(26)}\\nx`, 'rent_1']) {
      const fetch = changing((text) => text.replaceAll(first, id));
      for (const line of [`ssh box`, `stop box`, `show box`]) {
        const { code, err } = await ann.type(line, { fetch, run });
        assert.ok(code === exitCodes.notFound || code === exitCodes.server, `${line} ${id}: ${code} ${err}`);
        assert.match(err.replace(/\s+/g, ' '), /is not an id of the service/, line);
      }
    }
    assert.equal(readFileSync(keys, 'utf8'), 'mine');
    assert.deepEqual(readdirSync(join(ann.home, '.ssh')), ['authorized_keys']);
  });

  it('leaves out a row whose id is none, names it, and shows the others', async () => {
    const fetch = changing((text) => text.replaceAll(first, 'rent_../../x'));
    const { code, out, err } = await ann.type('ls', { fetch });
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(second.slice(-6)));
    assert.doesNotMatch(out, /box/);
    assert.match(err.replace(/\s+/g, ' '), /Left out a row: "rent_..\/..\/x" is not an id of the service/);
    const json = await ann.type('ls --json', { fetch });
    assert.deepEqual(
      (JSON.parse(json.out) as { rentals: { id: string }[] }).rentals.map(({ id }) => id),
      [second],
    );
  });

  it('takes ids of any prefix and of a newer form', async () => {
    const id = `vol_${'0aZ'.repeat(10)}`;
    const fetch = changing((text) => text.replaceAll(first, id));
    const { out } = await ann.type('ls', { fetch });
    assert.match(out, new RegExp(id.slice(-6)));
  });

  it('hands no address, user or port to a program that is none', async () => {
    const odd = {
      host: ['-f/etc/passwd', '-oProxyCommand=x', 'a b', 'a\\nb', '', 'h;x', `h${evil.slice(0, 1)}`],
      username: ['-oProxyCommand=x', 'root\\nHost *', 'a b', 'a@b', ''],
      port: [0, -1, 65_536, 2.5],
      hostKeyFingerprint: ['SHA256:x', 'x\\ny'],
    };
    for (const [field, values] of Object.entries(odd)) {
      for (const value of values) {
        const told = typeof value === 'number' ? String(value) : `"${value}"`;
        const fetch = changing((text) =>
          text.replace(
            new RegExp(`"${field}":("[^"]*"|\\d+)`, 'g'),
            `"${field}":${told.replaceAll('\u001b', '\\u001b')}`,
          ),
        );
        for (const line of ['ssh box', 'cp :x .', 'ports 8888 -m box']) {
          const { code, err } = await ann.type(line.replace(':x', 'box:x'), { fetch, run });
          assert.equal(code, exitCodes.hostKey, `${line} ${field} ${told}: ${err}`);
          assert.match(err.replace(/\s+/g, ' '), /which no machine has/);
        }
      }
    }
    assert.equal(existsSync(join(ann.home, '.local/state/gpu-rental/known_hosts', first)), false);
  });

  it('writes no control or bidi character of the service to a terminal, in results and failures', async () => {
    const escaped = JSON.stringify(evil).slice(1, -1);
    // Everything but what decides: ids, addresses, states, instants.
    const fetch = changing((text) =>
      text
        .replace(
          /"(name|region|model|family|familyId|templateId|message|why|brand|reason)":"/g,
          `$&${escaped}`,
        )
        .replace(/"(stopReason|failure)":null/g, `"stopReason":"${escaped}"`)
        .replace(/"warnings":\[\]/g, `"warnings":["${escaped}"]`),
    );
    const lines = ['ls', 'show', `show ${second}`, 'offers', 'offers h100-80gb', 'quote rtx-4090', 'ledger'];
    for (const line of [...lines, 'explain', 'statement', 'card', 'topup', 'rent none', 'keys ssh']) {
      for (const options of [{ columns: 60 }, {}]) {
        const { out, err } = await ann.type(line, { fetch, ...options });
        assert.doesNotMatch(out, raw, line);
        assert.doesNotMatch(err, raw, line);
      }
      const { out, err } = await ann.type(`${line} --json`, { fetch });
      assert.doesNotMatch(out + err, raw, `${line} --json`);
      if (line === 'ls') {
        const { rentals } = JSON.parse(out) as { rentals: { name: string }[] };
        assert.ok(rentals[0]!.name.startsWith(evil), 'nothing is lost to a program');
      }
    }
    const asked = await ann.type('stop', {
      fetch,
      types: { 'Which machine': '', 'disk is lost': 'n' },
      env: { NO_COLOR: '' },
    });
    for (const part of ['owned\u0007', '\u202e', '\u009b', '\u001b]'])
      assert.ok(!(asked.out + asked.err).includes(part), JSON.stringify(part));
  });

  it('opens pages of http and https alone, and never through a shell', async () => {
    const opened: string[][] = [];
    const browse: Surroundings['run'] = (program, args) => {
      opened.push([program, ...args]);
      return Promise.resolve({ code: 0, stdout: '', stderr: '' });
    };
    const at = (url: string, platform: NodeJS.Platform) =>
      ann.type('pay 5 --no-wait', {
        run: browse,
        platform,
        types: {},
        env: { DISPLAY: ':0' },
        fetch: changing((text) =>
          text.replace(/"checkoutUrl":"[^"]*"/, () => `"checkoutUrl":${JSON.stringify(url)}`),
        ),
      });
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', '--help', 'calc.exe', 'ssh://-oX']) {
      const { code, err } = await at(url, 'linux');
      assert.equal(code, exitCodes.committed, err);
      assert.match(err, /top_\w{26}/);
    }
    assert.deepEqual(opened, []);
    await at('https://pay.example.com/a?b=1&calc.exe', 'win32');
    assert.deepEqual(opened, [
      ['rundll32.exe', 'url.dll,FileProtocolHandler', 'https://pay.example.com/a?b=1&calc.exe'],
    ]);
  });
});
