import assert from 'node:assert/strict';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import type { Agent } from '../mcp/support/agent.js';
import { AgentBench, type AgentKey } from './support/agent-bench.js';
import type { Person } from './support/person.js';

describe('gpu mcp, as agents use it', () => {
  let bench: AgentBench;
  let ann: Person;

  before(async () => {
    bench = await AgentBench.start();
    ({ ann } = bench);
  });
  afterEach(() => bench.leave());
  after(() => bench.mock.stop());

  async function rentBy(agent: Agent): Promise<unknown> {
    const { quoteId } = await agent.call('quote', { familyId: 'rtx-4090', gpuCount: 1, maxSpendCents: 100 });
    return (await agent.call('rent', { quoteId }))['rentalId'];
  }

  it('takes numbers as text, and null for what is left out', async () => {
    const agent = await bench.serve(await bench.keyWith({ spendCapCents: 1_000 }));
    const { offers } = (await agent.call('offers', {
      ...{ familyId: 'rtx-4090', gpuCount: '1', limit: '2', region: null, minVramGb: null },
    })) as { offers: unknown[] };
    assert.equal(offers.length, 2);
    const told = await agent.call('quote', {
      ...{ familyId: 'rtx-4090', gpuCount: '1', autoStopAfterHours: ' 1.5 ', maxSpendCents: '100' },
      ...{ name: null, templateId: null },
    });
    assert.equal(told['worstCaseCents'], 60);
    const wrong = await agent.refused('quote', { familyId: 'rtx-4090', gpuCount: 'two', maxSpendCents: 1 });
    assert.match(String(wrong['message']), /gpuCount/);
  });

  it('refuses a family that there is not, and names those that there are', async () => {
    const agent = await bench.serve(await bench.keyWith({ spendCapCents: 1_000 }));
    for (const tool of ['offers', 'quote']) {
      const refused = await agent.refused(tool, { familyId: 'abacus', gpuCount: 1, maxSpendCents: 5 });
      assert.equal(refused['error'], 'unknown_family', tool);
      assert.deepEqual(refused['details'], { familyId: 'abacus' });
      assert.ok((refused['alternatives'] as string[]).includes('rtx-4090'));
    }
  });

  it('ends only what its conversation opened, unless the key is its own', async () => {
    const plain = await bench.keyWith({ spendCapCents: 1_000 });
    assert.equal(plain.ends, 'all');
    const before = await bench.serve(plain);
    const rentalId = await rentBy(before);
    const later = await bench.serve(plain);
    const refused = await later.refused('stop', { rentalId });
    assert.deepEqual([refused['error'], refused['rentalId']], ['not_opened_here', rentalId]);
    assert.match(String(refused['message']), /gpu stop rent_.*gpu keys create agent --agent/);
    const { extensionId } = await later.call('quote_extension', { rentalId, maxSpendCents: 50 });
    assert.equal((await later.refused('extend', { extensionId }))['error'], 'not_opened_here');
    await before.call('stop', { rentalId });

    const made = await ann.withCode('keys create agent --agent --spend-cap 10 --days 30 --json');
    const own = JSON.parse(made.out) as AgentKey;
    assert.equal(own.ends, 'own');
    const first = await bench.serve(own);
    const ownRental = await rentBy(first);
    const second = await bench.serve(own);
    await second.call('stop', { rentalId: ownRental });
  });

  it('ends no machine of anybody else by a key of its own, whatever asks', async () => {
    const { key } = await bench.keyWith({ ends: 'own' });
    const id = await ann.rent('rtx-4090 --max-spend 5');
    const agent = await bench.serve({ key }, '--allow-uncapped');
    const refused = await agent.refused('stop', { rentalId: id });
    assert.equal(refused['error'], 'key_ends_own');
    const env = { GPU_API_KEY: key };
    for (const line of [`stop ${id}`, `extend ${id} --max-spend 1`, `extend ${id} --until 2027-01-01`]) {
      const { code, err } = await ann.type(line, { env });
      assert.equal(code, exitCodes.refused, err);
    }
    assert.equal((await ann.type(`stop ${id}`)).code, 0);
  });

  it('tells an agent nothing of HTTP', async () => {
    const agent = await bench.serve(await bench.keyWith({ spendCapCents: 1_000 }));
    const { tools } = await agent.client.listTools();
    const refused = [
      await agent.refused('stop', { rentalId: 'rent_1' }),
      await agent.refused('explain', { ledgerEntryId: 'led_1' }),
      await agent.refused('quote', {
        familyId: 'b200',
        gpuCount: 8,
        maxSpendCents: 5,
        maxPricePerHourCents: 1,
      }),
    ];
    const told = JSON.stringify([tools, refused, agent.client.getInstructions()]);
    assert.doesNotMatch(told, /\/v1\/|\b(GET|POST|PATCH|DELETE|PUT)\b|HTTP|cursor|pageSize|topup_id|_id\b/);
  });

  it('says that a list is cut', async () => {
    const agent = await bench.serve(await bench.keyWith({ spendCapCents: 1_000 }));
    const whole = await agent.call('offers', { familyId: 'rtx-4090', limit: 100 });
    assert.equal(whole['hasMore'], undefined);
    const cut = await agent.call('offers', { limit: 1 });
    assert.equal(cut['hasMore'], true);
    assert.match(String(cut['next']), /higher limit/);
  });

  const statusOf = async (id: string): Promise<string> =>
    ((await ann.elsewhere.get(`/v1/rentals/${id}`)).body as unknown as { status: string }).status;

  it('does and answers what was asked for before its input ended', async () => {
    const { key } = await bench.keyWith({ ends: 'own', spendCapCents: 1_000 });
    const { child, lines, call, ended } = await bench.pipe(key);
    const id = await ann.rent('rtx-4090 --max-spend 5', { env: { GPU_API_KEY: key } });
    call(2, 'stop', { rentalId: id });
    child.stdin.end();
    assert.deepEqual(await ended, [0, null]);
    const answer = JSON.parse(lines.at(-1)!) as { id: number; result: { isError?: boolean } };
    assert.deepEqual([answer.id, answer.result.isError], [2, undefined]);
    assert.ok(['stopping', 'stopped'].includes(await statusOf(id)));
  });

  it('does it, and says so elsewhere, when nobody hears the answer', async () => {
    const { key } = await bench.keyWith({ ends: 'own', spendCapCents: 1_000 });
    const { child, texts, call, ended } = await bench.pipe(key);
    const id = await ann.rent('rtx-4090 --max-spend 5', { env: { GPU_API_KEY: key } });
    child.stdout.destroy();
    call(2, 'stop', { rentalId: id });
    child.stdin.end();
    assert.deepEqual(await ended, [exitCodes.committed, null], texts.err);
    assert.match(texts.err.replace(/\s+/g, ' '), new RegExp(`before it got the result of: stop ${id}`));
    assert.ok(['stopping', 'stopped'].includes(await statusOf(id)));
  });
});
