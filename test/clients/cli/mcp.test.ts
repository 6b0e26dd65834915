import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { Failure } from '../../../clients/cli/src/failure.js';
import { answering, TOOL_WITHIN_MS } from '../../../clients/cli/src/mcp/answers.js';
import * as shapes from '../../../clients/cli/src/mcp/shapes.js';
import { runProgram } from '../../../clients/cli/src/surroundings.js';
import { MINUTE } from '../../../domain/durations.js';
import { idleGuardLimits } from '../../../domain/rentals/idle-guard.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { until } from '../../support/until.js';
import { AgentBench, type AgentKey } from './support/agent-bench.js';
import type { Person } from './support/person.js';
import { gpuFile } from './support/terminal.js';

/** $39.92 an hour. */
const machine = { familyId: 'b200', gpuCount: 8 };
/** Large ones that end at once are soon too many for an hour. */
const small = { familyId: 'rtx-4090', gpuCount: 1 };

const calls = { began: () => undefined, ended: () => undefined };
const options = { ownKeyBy: 'gpu mcp', calls };
const extra = { signal: new AbortController().signal, requestId: 1 };

describe('gpu mcp', () => {
  let bench: AgentBench;
  let ann: Person;

  before(async () => {
    bench = await AgentBench.start();
    ({ ann } = bench);
  });
  afterEach(() => bench.leave());
  after(() => bench.mock.stop());

  it('lets an agent rent within the cap of its key and not beyond it, and stop', async () => {
    const key = await bench.keyWith({ spendCapCents: 5_000 });
    const agent = await bench.serve(key);
    const { tools } = await agent.client.listTools();
    for (const name of ['offers', 'quote', 'rent', 'extend', 'ssh_command', 'stop']) {
      assert.ok(
        tools.some((tool) => tool.name === name),
        name,
      );
    }
    const told = await agent.call('quote', { ...machine, maxSpendCents: 3_000 });
    assert.deepEqual([told['worstCaseCents'], told['keyLeftCents']], [3_000, 5_000]);
    const { rentalId } = await agent.call('rent', { quoteId: told['quoteId'] });

    const beyond = await agent.call('quote', { ...machine, maxSpendCents: 2_001 });
    assert.equal(beyond['keyLeftCents'], 2_000, 'the agent is told beforehand');
    const refused = await agent.refused('rent', { quoteId: beyond['quoteId'] });
    assert.equal(refused['error'], 'cap_reserved');
    assert.deepEqual((refused['details'] as { reservedBy: unknown }).reservedBy, [
      { rentalId, reservedCents: 3_000 },
    ]);
    const longer = await agent.call('quote_extension', { rentalId, maxSpendCents: 5_001 });
    const { extensionId } = longer;
    assert.equal((await agent.refused('extend', { extensionId }))['error'], 'cap_reserved');
    const fits = await agent.call('quote_extension', { rentalId, maxSpendCents: 5_000 });
    const extended = await agent.call('extend', { extensionId: fits['extensionId'] });
    assert.equal(extended['worstCaseCents'], 5_000);

    const { rentals } = (await agent.call('list')) as { rentals: { rentalId: string }[] };
    assert.deepEqual(
      rentals.map((rental) => rental.rentalId),
      [rentalId],
    );
    const stopped = await agent.call('stop', { rentalId });
    assert.ok(Number(stopped['finalChargedCents']) < 100, JSON.stringify(stopped));
    await until('the cap is free again', async () => {
      const { body } = await ann.elsewhere.get(`/v1/api-keys/${key.id}`);
      return (body as unknown as AgentKey).reservedCents === 0;
    });
  });

  // The description tells numbers to people alone: no generated type has them.
  it('tells agents the limits of the service', async () => {
    const agent = await bench.serve(await bench.keyWith({ spendCapCents: 5_000 }));
    const { tools } = await agent.client.listTools();
    const limitsOf = (tool: string, field: string) => {
      const schema = tools.find(({ name }) => name === tool)?.inputSchema.properties?.[field];
      const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
      return { minimum, maximum };
    };
    const { minutesMin, minutesMax, keepAliveAheadMs } = idleGuardLimits;
    const idle = { minimum: minutesMin, maximum: minutesMax };
    assert.deepEqual(limitsOf('quote', 'stopWhenIdleMinutes'), idle);
    assert.deepEqual(limitsOf('keep_alive', 'minutes'), { minimum: 1, maximum: keepAliveAheadMs / MINUTE });
    for (const tool of ['quote', 'quote_extension'])
      assert.equal(limitsOf(tool, 'autoStopAfterHours').maximum, rentalLimits.autoStopMaxHours, tool);
  });

  it('spends nothing by a key without a cap, unless its user has allowed it', async () => {
    const key = await bench.keyWith({});
    const careful = await bench.serve(key);
    const { quoteId } = await careful.call('quote', { ...small, maxSpendCents: 1_000 });
    const refused = await careful.refused('rent', { quoteId });
    assert.equal(refused['error'], 'no_spending_cap');
    const [, line] =
      /to run gpu (keys create .*?), and to set GPU_API_KEY/.exec(String(refused['message'])) ?? [];
    const made = await ann.withCode(`${line ?? ''} --json`);
    assert.equal(made.code, 0, `the line that it names makes a key: ${made.err}`);

    const free = await bench.serve(key, '--allow-uncapped');
    const told = await free.call('quote', { ...small, maxSpendCents: 1_000 });
    const { rentalId } = await free.call('rent', { quoteId: told['quoteId'] });
    assert.equal((await careful.refused('stop', { rentalId }))['error'], 'not_opened_here');
    await free.call('stop', { rentalId });

    const capped = await bench.serve(JSON.parse(made.out) as AgentKey);
    const again = await capped.call('quote', { ...small, maxSpendCents: 1_000 });
    const rented = await capped.call('rent', { quoteId: again['quoteId'] });
    await capped.call('stop', { rentalId: rented['rentalId'] });
  });

  it('says nothing but the protocol, and ends by itself when the agent leaves', async () => {
    const { key } = await bench.keyWith({ spendCapCents: 100 });
    const { child, lines, texts, call, ended } = await bench.pipe(key, [gpuFile]);
    call(2, 'quote', { ...machine, maxSpendCents: 50 });
    await until('it has told a quote', () => lines.length > 1);
    child.stdin.end();
    assert.deepEqual([await ended, texts.err], [[0, null], '']);
    const told = lines.map((line) => JSON.parse(line) as { jsonrpc: string; id: number });
    assert.deepEqual(
      told.map(({ jsonrpc, id }) => [jsonrpc, id]),
      [
        ['2.0', 1],
        ['2.0', 2],
      ],
    );
  });

  it('tells an agent the next step where a machine can not be entered', async () => {
    const enter = answering(options, shapes.balance, () =>
      Promise.reject(new Failure('hostKey', 'Another key.', 'Stop it.')),
    );
    const { isError, content } = await enter({}, extra);
    assert.equal(isError, true);
    const [text] = content as unknown as [{ text: string }];
    assert.deepEqual(JSON.parse(text.text), { error: 'hostKey', message: 'Another key.', next: 'Stop it.' });
  });

  it('tells what was done also where it does not know the answer', async () => {
    const stop = answering(options, shapes.stopped, () => Promise.resolve({ rentalId: 'rent_1' } as never));
    const { isError, content } = await stop({}, extra);
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /It is done.*rent_1/);
  });

  it('gives one time to all that a tool asks', async () => {
    const clock = Date.now;
    const left: number[] = [];
    const slow = answering(options, shapes.balance, async (_, call) => {
      left.push(call.timeoutMs);
      Date.now = () => clock() + TOOL_WITHIN_MS - 5_000;
      left.push(call.timeoutMs);
      await call.commit(({ timeoutMs }) => Promise.resolve(left.push(timeoutMs)));
      Date.now = () => clock() + TOOL_WITHIN_MS + 5_000;
      left.push(call.timeoutMs);
      return { wallet: null, key: null };
    });
    await slow({}, extra).finally(() => (Date.now = clock));
    const [first = 0, second = 0, third = 0, last] = left;
    assert.ok(first > 5_000 && first <= TOOL_WITHIN_MS, `${first}`);
    assert.ok(second <= 5_000 && third <= 5_000, `${second}, ${third}`);
    assert.equal(last, 1);
  });

  it('is refused where nobody is signed in, with nothing on the standard output', async () => {
    const { code, stdout, stderr } = await runProgram('env', [
      '-i',
      ...Object.entries({ ...bench.environment(''), HOME: `${ann.home}/nobody` }).map((pair) =>
        pair.join('='),
      ),
      ...[process.execPath, gpuFile, 'mcp'],
    ]);
    assert.deepEqual([code, stdout], [exitCodes.signedOut, '']);
    assert.match(stderr, /^You are not signed in at .*\nSign in with: gpu login\n$/);
  });
});
