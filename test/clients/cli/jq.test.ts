import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { selectBy } from '../../../clients/cli/src/output/jq.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Person } from './support/person.js';

describe('gpu --jq', () => {
  let mock: MockServer;
  let ann: Person;
  let id: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(50);
    id = await ann.rent('rtx-4090 --name training');
    await ann.rent('rtx-4090 --name other');
  });
  after(() => mock.stop());

  const rentals = async (): Promise<number> =>
    (await ann.json<{ rentals: readonly unknown[] }>('ls --all')).rentals.length;

  it('prints what an expression makes of the JSON: texts as they are, all else as JSON', async () => {
    const { code, out } = await ann.run([
      'ls',
      '--jq',
      '.rentals | sort_by(.name)[] | .name, .gpuCount, {name}',
    ]);
    assert.equal(code, 0);
    assert.equal(out, 'other\n1\n{"name":"other"}\ntraining\n1\n{"name":"training"}\n');
    assert.equal((await ann.run(['show', 'training', '--json', '--jq', '.id'])).out, `${id}\n`);
    assert.equal((await ann.run(['show', 'training', '--jq', 'empty'])).out, '');
    assert.equal((await ann.run(['show', 'training', '--jq', '-1, ""'])).out, '-1\n\n');
  });

  it('takes all of jq, such as a table with tabs', async () => {
    const { out } = await ann.run([
      'api',
      'GET',
      '/v1/rentals',
      '--jq',
      '.rentals[] | [.name, .gpuCount] | @tsv',
    ]);
    assert.deepEqual(out.split('\n').toSorted(), ['', 'other\t1', 'training\t1']);
  });

  it('applies to each line of a stream', async () => {
    const ctrlC = new AbortController();
    const seen = { all: '' };
    const ran = ann.run(['events', '--follow', '--after', '0', '--jq', '"\\(.seq) \\(.type)"'], {
      signal: ctrlC.signal,
      onOutput: (all) => (seen.all = all),
    });
    await until('it told some', () => /^\d+ rental\.running$/m.test(seen.all)).finally(() => ctrlC.abort());
    assert.match((await ran).out, /^(\d+ [a-z_]+\.[a-z_]+\n)+$/);
  });

  it('is read before anything is done: what is no expression rents nothing', async () => {
    const before = await rentals();
    for (const [expression, why] of [
      ['.[', /syntax error, unexpected end of file at\ncolumn 2\./],
      ['nothing(1)', /nothing\/1 is not defined/],
      ['', /expression/],
    ] as const) {
      const { code, out, err } = await ann.run(['rent', 'rtx-4090', '--yes', '--jq', expression]);
      assert.deepEqual([code, out], [exitCodes.usage, ''], expression);
      assert.match(err, why);
      assert.doesNotMatch(err, /stdin|top-level|Aborted/);
    }
    assert.equal(await rentals(), before);
  });

  it('tells in words what does not fit, and as an object under --json', async () => {
    const { code, out, err } = await ann.run(['show', 'training', '--jq', '.name.first']);
    assert.deepEqual([code, out], [exitCodes.usage, '']);
    assert.match(err, /^--jq does not fit the result: Cannot index string with string \("first"\)\.\n/);
    const asJson = await ann.run(['show', 'training', '--json', '--jq', 'error("no")']);
    assert.equal(asJson.code, exitCodes.usage);
    assert.equal((JSON.parse(asJson.err) as { exitCode: number }).exitCode, exitCodes.usage);
  });

  it('names the machine that was rented, when the expression fits nothing of it', async () => {
    const { code, err } = await ann.run(['rent', 'rtx-4090', '--yes', '--jq', '.id.x']);
    assert.equal(code, exitCodes.committed);
    const newest = (await ann.json<{ rentals: readonly { id: string }[] }>('ls')).rentals[0]!.id;
    assert.match(err, new RegExp(newest.slice(-6)));
  });

  it('takes results alone: files are none, nor are failures', async () => {
    const file = await ann.run(['ledger', '--csv', '--jq', '.']);
    assert.equal(file.code, exitCodes.usage);
    const page = await ann.run(['api', 'GET', '/v1/billing/ledger.csv', '--jq', '.']);
    assert.equal(page.code, exitCodes.usage);
    assert.match(page.err, /no JSON/);
    const failed = await ann.run(['show', 'nobody', '--jq', '.id']);
    assert.deepEqual([failed.code, failed.out], [exitCodes.notFound, '']);
    assert.doesNotMatch(failed.err, /^\{/);
  });

  it('gives up on what takes more memory than there is, and goes on', async () => {
    const select = await selectBy('if . then 1 else def f: f | f; f end');
    assert.throws(() => select(false), /too much memory/);
    assert.deepEqual(select(true), ['1']);
  });

  it('lets a terminal be steered by nothing', async () => {
    const { out } = await ann.run(['show', 'training', '--jq', '"a\\u001b[2Jb"'], { columns: 80 });
    assert.equal(out.includes('\u001b'), false);
  });
});
