import assert from 'node:assert/strict';
import type { Event } from '@gpu-rental/client';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { widthOf } from '../../../clients/cli/src/output/text.js';
import { sentenceOf } from '../../../clients/cli/src/watch/live-state.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { GpuUser } from './support/gpu.js';
import { mailedCode, Person } from './support/person.js';

interface Budget {
  readonly monthlyCents: number | null;
  readonly hard: boolean;
  readonly spentCents: number;
  readonly reservedCents: number;
  readonly leftCents: number | null;
}

describe('gpu budget', () => {
  let mock: MockServer;
  let ann: Person;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 20, endMs: 20 } });
  });
  after(() => mock.stop());
  beforeEach(async () => {
    ann = await Person.at(mock);
  });

  const budgetOf = async (person: Person): Promise<Budget> =>
    (await person.elsewhere.get('/v1/billing/budget')).body as unknown as Budget;

  it('says that there is none, and how to set one', async () => {
    const { code, out } = await ann.type('budget');
    assert.equal(code, 0);
    assert.match(
      out,
      /^Month +\d{4}-\d\d, in UTC\nEnds +\d{4}-\d\d-\d\d \d\d:\d\d\nBudget +none\nSpent +\$0\.00\n/,
    );
    assert.match(out, /\n\nSet one with: gpu budget set 50 --hard\n$/);
    assert.ok(!out.includes('Left'));
  });

  it('sets one after a mailed code, which stays hard until it is said otherwise, and takes it away', async () => {
    const soft = await ann.withCode('budget set 50');
    assert.equal(soft.code, 0, soft.err);
    assert.match(
      soft.err,
      /^To set the budget, confirm that it’s you\.\nWe emailed a code to cli\d+@example\.com\./,
    );
    assert.match(soft.out, /\nBudget +\$50\.00, soft\n.*\nReserved +\$0\.00\nLeft +\$50\.00\n/);
    assert.match(soft.out, /when you have spent 50, 80 and\s+100 % of it\. We refuse nothing\.\n$/);
    const hard = await ann.withCode('budget set 60 --hard');
    assert.match(hard.out, /\nBudget +\$60\.00, hard\n[^]*\nWe refuse rentals that would exceed it\./);
    await ann.withCode('budget set 70.50');
    const { monthlyCents, hard: isHard } = await budgetOf(ann);
    assert.deepEqual([monthlyCents, isHard], [7_050, true], 'another amount is as hard as before');
    await ann.withCode('budget set 80 --soft');
    assert.equal((await budgetOf(ann)).hard, false);
    const off = await ann.withCode('budget off');
    assert.match(off.out, /\nBudget +none\n/);
    assert.equal((await budgetOf(ann)).monthlyCents, null);
    const { sessions } = (await ann.elsewhere.get('/v1/auth/sessions')).body as unknown as {
      sessions: unknown[];
    };
    assert.equal(sessions.length, 1, 'each sign-in for it has ended: the one that is left is elsewhere');
  });

  it('shows what is spent, reserved and left', async () => {
    await ann.pay(50);
    await ann.withCode('budget set 40 --hard');
    await ann.rent('rtx-4090 --max-spend 15');
    const { out } = await ann.type('budget');
    assert.match(out, /\nSpent +\$0\.00\nReserved +\$15\.00 for running machines\nLeft +\$25\.00\n/);
    const told = await ann.json<Budget>('budget');
    assert.deepEqual(told, JSON.parse(JSON.stringify(await budgetOf(ann))));
    assert.deepEqual([told.reservedCents, told.leftCents, told.hard], [1_500, 2_500, true]);
    const set = await ann.withCode('budget set 30 --json');
    assert.equal((JSON.parse(set.out) as Budget).leftCents, 1_500);
  });

  it('refuses a machine that does not fit, and tells how it would', async () => {
    await ann.pay(50);
    await ann.withCode('budget set 5 --hard');
    const { code, err } = await ann.type('rent rtx-4090 --max-spend 6 --yes');
    assert.equal(code, exitCodes.noMoney);
    assert.match(err, /\nThis month’s budget is \$5\.00\. \$5\.00 is left, and this may cost \$6\.00\.\n/);
    assert.match(err.replace(/\s+/g, ' '), /or raise the budget with: gpu budget set /);
  });

  it('names the machines that have no limit, which no hard budget can hold', async () => {
    await ann.pay(50);
    const ids = [await ann.rent(), await ann.rent()].map((id) => id.slice(-6));
    const { code, err } = await ann.withCode('budget set 20 --hard');
    assert.equal(code, exitCodes.refused, err);
    assert.match(err, /You can’t set a hard budget while you have machines without a spending\s+limit:\s/);
    for (const id of ids) assert.ok(err.includes(id));
    const named = /gpu extend (\w{6}) --max-spend 20/.exec(err)![1]!;
    assert.ok(ids.includes(named));
    assert.equal((await budgetOf(ann)).monthlyCents, null, 'nothing has changed');
    for (const id of ids) assert.equal((await ann.type(`extend ${id} --max-spend 5`)).code, 0);
    assert.equal((await ann.withCode('budget set 20 --hard')).code, 0);
  });

  it('asks for no code where the words are wrong, nor where nobody can type one', async () => {
    for (const line of ['budget set', 'budget set 0', 'budget set ten', 'budget set 5 --hard --soft']) {
      const { code, out, err } = await ann.withCode(line);
      assert.deepEqual([code, out], [exitCodes.usage, ''], line);
      assert.ok(!err.includes('emailed a code'), err);
    }
    const piped = await ann.type('budget set 50');
    assert.deepEqual([piped.code, piped.out], [exitCodes.refused, '']);
    assert.match(piped.err, /Run it in a terminal: it asks for a code that we email you\./);
    const told = JSON.parse((await ann.type('budget set 50 --json')).err) as Record<string, unknown>;
    assert.deepEqual([told['error'], told['exitCode']], ['refused', exitCodes.refused]);
    const tooMuch = await ann.withCode('budget set 99999999');
    assert.equal(tooMuch.code, exitCodes.usage);
    assert.match(tooMuch.err, /The budget must be at most \$10,000,000\.00\./);
    assert.equal((await budgetOf(ann)).monthlyCents, null);
  });

  it('tells a key that may not read it what it lacks', async () => {
    const asked = { name: 'reader', scopes: ['read'] };
    const { key } = (await ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as { key: string };
    const { code, err } = await new GpuUser(mock.url, key).type('budget --json');
    assert.equal(code, exitCodes.refused);
    assert.equal((JSON.parse(err) as { error: string }).error, 'key_scope');
  });

  it('sets the budget of the account whose key the environment names, whoever signed in here', async () => {
    const bob = await Person.at(mock);
    const login = await ann.run(['login', '--email', ann.email], {
      types: mailedCode,
      env: { GPU_API_KEY: '' },
    });
    assert.equal(login.code, 0, login.err);
    const { code, err } = await ann.withCode('budget set 33', { env: { GPU_API_KEY: bob.apiKey! } });
    assert.equal(code, 0, err);
    assert.deepEqual([(await budgetOf(ann)).monthlyCents, (await budgetOf(bob)).monthlyCents], [null, 3_300]);
    await ann.withCode('budget set 22', { env: { GPU_API_KEY: '' } });
    assert.equal((await budgetOf(ann)).monthlyCents, 2_200);
  });

  it('is told of by gpu watch', () => {
    const event = { type: 'budget.reached', entityId: 'usr_1', data: { percent: 80 } } as unknown as Event;
    assert.equal(sentenceOf(event), "You have spent 80% of the month's budget: gpu budget");
  });

  it('fits terminals of 40 and 100 columns', async () => {
    await ann.pay(50);
    await ann.withCode('budget set 1000 --hard');
    await ann.rent('rtx-4090 --max-spend 15');
    for (const columns of [40, 100]) {
      for (const line of ['budget', 'budget set 1000', 'budget --help', 'budget set --help']) {
        const { out } = await ann.withCode(line, { columns });
        const wide = out.split('\n').filter((each) => widthOf(each) > columns);
        assert.deepEqual(wide, [], line);
      }
    }
  });
});
