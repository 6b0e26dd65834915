import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { GpuUser } from './support/gpu.js';
import { Person } from './support/person.js';

interface Named {
  readonly id: string;
  readonly status: string;
  readonly name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly maxSpendCents: number | null;
}

describe('gpu rename and gpu label', () => {
  let mock: MockServer;
  let ann: Person;
  let id: string;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(50);
  });
  after(() => mock.stop());
  beforeEach(async () => {
    id = await ann.rent('rtx-4090 --label team=a --label draft=yes --max-spend 5');
  });
  afterEach(() => ann.type('stop --all --yes'));

  const shown = (): Promise<Named> => ann.json<Named>(`show ${id}`);
  const ended = (): Promise<true> => until('it has ended', async () => (await shown()).status === 'stopped');

  it('names a machine, in words and in JSON, and takes the name away', async () => {
    const short = id.slice(-6);
    const named = await ann.type(`rename ${short} training`);
    assert.deepEqual([named.code, named.out], [0, `${short} (1 x RTX 4090) is called training now.\n`]);
    const { name, labels, maxSpendCents } = await ann.json<Named>('rename training second');
    assert.deepEqual([name, labels, maxSpendCents], ['second', { team: 'a', draft: 'yes' }, 500]);
    const none = await ann.run(['rename', 'second', '']);
    assert.equal(none.out, `${short} (1 x RTX 4090) has no name now.\n`);
    assert.equal((await shown()).name, null);
  });

  it('names one that has ended, and none that is not there', async () => {
    await ann.type(`stop ${id}`);
    await ended();
    assert.equal((await ann.json<Named>(`rename ${id} past`)).name, 'past');
    assert.equal((await ann.type('rename nobody x')).code, exitCodes.notFound);
  });

  it('sets and removes labels, and leaves the others as they are', async () => {
    const first = await ann.type(`label ${id} team=b at= draft-`);
    assert.deepEqual(
      [first.code, first.out],
      [0, `${id.slice(-6)} (1 x RTX 4090) has team=b, at= now.\n`],
      first.err,
    );
    const { labels, maxSpendCents } = await ann.json<Named>(`label ${id} on=a=b-`);
    assert.deepEqual([labels, maxSpendCents], [{ team: 'b', at: '', on: 'a=b-' }, 500]);
    const none = await ann.type(`label ${id} team- at- on- nothing-`);
    assert.match(none.out, / has no labels now\.\n$/);
    assert.deepEqual((await shown()).labels, {});
  });

  it('refuses labels that are none, and those of a final bill', async () => {
    for (const line of ['', ' team', ' =a', ' -', ' team=a team=b', ' team=a team-']) {
      const { code, out, err } = await ann.type(`label ${id}${line}`);
      assert.deepEqual([code, out], [exitCodes.usage, ''], `${line}: ${err}`);
    }
    const { code, err } = await ann.type(`label ${id} Team=a`);
    assert.equal(code, exitCodes.usage);
    assert.match(err, /--label: Team is not a label: a key has 1 to 63 characters/);
    await ann.type(`stop ${id}`);
    await ended();
    assert.equal((await ann.type(`label ${id} team=c`)).code, exitCodes.refused);
    assert.equal((await shown()).labels['team'], 'a');
  });

  it('tells a key that may not change machines what it lacks, in the words of the service', async () => {
    const asked = { name: 'reader', scopes: ['read'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    for (const line of [`rename ${id} x`, `label ${id} a=b`]) {
      const { code, err } = await new GpuUser(mock.url, key).type(line);
      assert.equal(code, exitCodes.refused);
      assert.match(err, /^This needs an API key with the scope rentals\./);
    }
    assert.equal((await shown()).name, null);
  });
});
