import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from './support/person.js';
import { hasSftp, SshMachine } from './support/ssh-machine.js';

describe('gpu cp', () => {
  let mock: MockServer;
  let ann: Person;
  let machine: SshMachine;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    machine = await SshMachine.start();
    ann = await Person.at(mock);
    await ann.pay(20);
    await ann.rent('rtx-4090 --name box');
  });
  after(async () => {
    await machine.stop();
    await mock.stop();
  });

  const quoted = `it's "quoted".txt`;
  const oddNames = [
    'two  words.txt',
    quoted,
    '$(touch ran) `touch ran`; touch ran & #.txt',
    '-r',
    'a:b.txt',
    'bräunlich (1) {a,b}.txt',
  ];

  for (const servesSftp of [true, false]) {
    const way = servesSftp ? 'by SFTP' : 'where a machine serves no SFTP';
    it(`takes paths as they are written, there and back, ${way}`, async function () {
      // The program belongs to OpenSSH’s server, which a system need not have.
      if (servesSftp && !hasSftp) return this.skip();
      machine.servesSftp = servesSftp;
      const fetch = machine.told();
      const base = mkdtempSync(join(ann.home, 'cp '));
      const [from, there, back] = ['from', "the 'machine'", 'back'].map((name) => join(base, name)) as [
        string,
        string,
        string,
      ];
      for (const folder of [from, there, back]) mkdirSync(folder);
      for (const name of oddNames) writeFileSync(join(from, name), name);
      const sent = oddNames.map((name) => join(from, name));
      const up = await ann.run(['cp', '--', ...sent, `box:${there}/`], { fetch });
      assert.equal(up.code, 0, up.err);
      const renamed = await ann.run(['cp', join(from, quoted), `box:${there}/new ${quoted}`], { fetch });
      assert.equal(renamed.code, 0, renamed.err);
      const down = await ann.run(['cp', ...oddNames.map((name) => `:${there}/${name}`), back], { fetch });
      assert.equal(down.code, 0, down.err);
      assert.deepEqual(readdirSync(there).toSorted(), [...oddNames, `new ${quoted}`].toSorted());
      for (const folder of [there, back]) {
        for (const name of oddNames) assert.equal(readFileSync(join(folder, name), 'utf8'), name);
      }
      for (const folder of [process.cwd(), from, there, back, base, ann.home])
        assert.equal(existsSync(join(folder, 'ran')), false, 'nothing was run');
    });

    it(`finds files there by a pattern, ${way}`, async function () {
      if (servesSftp && !hasSftp) return this.skip();
      machine.servesSftp = servesSftp;
      const there = mkdtempSync(join(ann.home, 'there '));
      const back = mkdtempSync(join(ann.home, 'back '));
      for (const name of ['a 1.log', 'a 2.log', 'b.txt']) writeFileSync(join(there, name), name);
      const { code, err } = await ann.run(['cp', `box:${there}/a *.log`, back], { fetch: machine.told() });
      assert.equal(code, 0, err);
      assert.deepEqual(readdirSync(back).toSorted(), ['a 1.log', 'a 2.log']);
    });
  }

  it('writes paths for the shell there where scp is older than 9, which hands them to it', async () => {
    machine.servesSftp = true;
    const copied: (readonly string[])[] = [];
    const run =
      (version: string): typeof runProgram =>
      async (program, args, options) => {
        if (program === 'ssh' && args[0] === '-V') return { code: 0, stdout: '', stderr: version };
        if (program !== 'scp') return runProgram(program, args, options);
        copied.push(args);
        return { code: 0, stdout: '', stderr: '' };
      };
    const words = ['cp', `box:it's here.txt`, '.'];
    const versions = ['OpenSSH_8.9p1 Ubuntu-3, OpenSSL 3.0.2', 'OpenSSH_9.6p1', 'something else'];
    for (const version of versions)
      assert.equal((await ann.run(words, { fetch: machine.told(), run: run(version) })).code, 0);
    const paths = copied.map((args) => args.at(-2)?.split(':').at(-1));
    assert.deepEqual(paths, [String.raw`it\'s\ here.txt`, `it's here.txt`, `it's here.txt`]);
  });
});
