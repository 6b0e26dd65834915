import assert from 'node:assert/strict';
import { GpuRental } from '@gpu-rental/client';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import { Agent, type AgentOptions, type Told } from './support/agent.js';
import { startBetween } from './support/between.js';
import { makeSshDir } from './support/ssh-dir.js';

const machine = { familyId: 'b200', gpuCount: 8 };
/** Large ones that end at once are soon too many for an hour. */
const small = { familyId: 'rtx-4090', gpuCount: 1 };
const priceCents = 3_992;

describe('the server for agents', () => {
  const sshDir = makeSshDir();
  let mock: MockServer;
  let gpu: GpuRental;
  let agent: Agent;

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 200, tickMs: 50, endMs: 50 } });
    gpu = new GpuRental({ baseUrl: mock.url });
    await gpu.auth.requestCode({ email: 'agent@example.com' });
    await gpu.auth.verifyCode({ email: 'agent@example.com', code: '123456' });
    const { checkoutUrl } = await gpu.checkout.create({ amountCents: 20_000 });
    await fetch(checkoutUrl!, { redirect: 'manual' });
    agent = await start({ allowUncapped: true });
  });
  after(async () => {
    await agent.leave();
    sshDir.remove();
    await mock.stop();
  });

  function start(options: Partial<AgentOptions> = {}): Promise<Agent> {
    const { cookie } = gpu.session!;
    return Agent.start({ apiUrl: mock.url, session: cookie, sshDir: sshDir.path, ...options });
  }

  const quote = (more: object = { autoStopAfterHours: 2 }): Promise<Told> =>
    agent.call('quote', { ...machine, ...more });

  it('tells agents what it can do, and which of it changes something', async () => {
    const { tools } = await agent.client.listTools();
    assert.deepEqual(
      tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
      [
        ...[
          ['offers', true],
          ['list', true],
          ['balance', true],
          ['explain', true],
          ['events', true],
          ['quote', true],
        ],
        ...[
          ['rent', false],
          ['quote_extension', true],
          ['extend', false],
          ['ssh_command', true],
          ['keep_alive', false],
          ['stop', false],
          ['rename', false],
        ],
      ],
    );
    assert.match(agent.client.getInstructions() ?? '', /always stop/);
  });

  it('shows offers, the cheapest first', async () => {
    const { offers } = (await agent.call('offers', { familyId: 'b200', limit: 2 })) as { offers: Told[] };
    assert.deepEqual(
      offers.map(({ familyId, pricePerHourCents }) => [familyId, pricePerHourCents]),
      [
        ['b200', 490],
        ['b200', 799],
      ],
    );
  });

  it('tells the worst case, rents by that quote, enters, extends in two steps, explains and stops', async () => {
    const told = await quote({ autoStopAfterHours: 2, name: 'training' });
    assert.deepEqual([told['worstCaseCents'], told['pricePerHourCents']], [2 * priceCents, priceCents]);
    assert.match(String(told['summary']), /^\$39\.92 an hour, \$79\.84 at most/);

    const rented = await agent.call('rent', { quoteId: told['quoteId'] });
    assert.equal(rented['worstCaseCents'], 2 * priceCents);
    const { rentalId } = rented;
    const again = await agent.call('rent', { quoteId: told['quoteId'] });
    assert.equal(again['rentalId'], rentalId);

    const entry = await agent.call('ssh_command', { rentalId });
    assert.equal(entry['ready'], true);
    assert.match(String(entry['command']), /^ssh .* -p \d+ .*@[\w.]+$/);

    const longer = await agent.call('quote_extension', { rentalId, autoStopAfterHours: 3 });
    assert.equal(longer['worstCaseCents'], 3 * priceCents);
    const before = await gpu.rentals.get(String(rentalId));
    assert.equal(Date.parse(before.autoStopAt!) - Date.parse(before.runningAt!), 2 * 3_600_000);
    const extended = await agent.call('extend', { extensionId: longer['extensionId'] });
    assert.equal(Date.parse(String(extended['autoStopAt'])) - Date.parse(before.runningAt!), 3 * 3_600_000);

    await until(
      'a cent is charged',
      async () => (await gpu.rentals.get(String(rentalId))).totalChargedCents > 0,
    );
    const { entries } = (await agent.call('explain', { rentalId })) as { entries: { id: string }[] };
    const why = await agent.call('explain', { ledgerEntryId: entries[0]!.id });
    assert.ok(why['charge'] !== undefined, JSON.stringify(why));

    const stopped = await agent.call('stop', { rentalId });
    assert.ok(Number(stopped['finalChargedCents']) > 0);
    const { rentals } = (await agent.call('list', { limit: 1 })) as { rentals: Told[] };
    assert.deepEqual(
      [rentals[0]?.['rentalId'], rentals[0]?.['untrusted']],
      [rentalId, { name: 'training', labels: {} }],
    );
    const { wallet } = (await agent.call('balance')) as { wallet: { totalCents: number } };
    assert.equal(wallet.totalCents, (await gpu.wallet.get()).totalCents);
  });

  it('rents by nothing that it has not told', async () => {
    const { quoteId } = await gpu.quotes.create({ ...machine, gpuCount: 8 });
    assert.equal((await agent.refused('rent', { quoteId }))['error'], 'unknown_quote');
    assert.equal((await agent.refused('extend', { extensionId: 'ext_1' }))['error'], 'unknown_extension');
    assert.match(String((await agent.refused('rent', machine))['message']), /quoteId/);
  });

  it('tells no quote without a limit', async () => {
    assert.equal((await agent.refused('quote', machine))['error'], 'no_limit');
    const told = await quote({ maxSpendCents: 700 });
    assert.equal(told['worstCaseCents'], 700);
  });

  it('tells of the least of the limits when it extends', async () => {
    const told = await quote({ ...small, maxSpendCents: 100 });
    const perHourCents = Number(told['pricePerHourCents']);
    const { rentalId } = await agent.call('rent', { quoteId: told['quoteId'] });
    const hours = await agent.call('quote_extension', { rentalId, autoStopAfterHours: 10 });
    assert.equal(hours['worstCaseCents'], 100);
    const both = await agent.call('quote_extension', {
      rentalId,
      autoStopAfterHours: 1.5,
      maxSpendCents: 9_000,
    });
    assert.equal(both['worstCaseCents'], Math.round(1.5 * perHourCents));
    assert.equal((await agent.refused('quote_extension', { rentalId }))['error'], 'no_limit');
    await agent.call('stop', { rentalId });
  });

  it('hands on what the service refuses, with its words', async () => {
    const far = await agent.refused('quote', {
      ...machine,
      autoStopAfterHours: 1,
      maxPricePerHourCents: 100,
    });
    assert.equal(far['error'], 'model_unavailable');
    assert.ok((far['details'] as { alternatives: unknown[] }).alternatives.length > 0);
    const { details } = await agent.refused('quote', {
      familyId: 'abacus',
      gpuCount: 1,
      autoStopAfterHours: 1,
    });
    assert.deepEqual(details, { familyId: 'abacus' });
    assert.equal((await agent.refused('stop', { rentalId: 'rent_1' }))['error'], 'rental_not_found');
  });

  it('spends nothing by a session, ends nothing that it did not open, and may still read', async () => {
    const careful = await start();
    const { quoteId } = await careful.call('quote', { ...small, autoStopAfterHours: 1 });
    const refused = await careful.refused('rent', { quoteId });
    assert.equal(refused['error'], 'no_spending_cap');
    assert.match(String(refused['message']), /key with a cap.*--allow-uncapped/);
    const { rentalId } = await agent.call('rent', {
      quoteId: (await quote({ ...small, autoStopAfterHours: 2 }))['quoteId'],
    });
    const { extensionId } = await careful.call('quote_extension', { rentalId, autoStopAfterHours: 5 });
    assert.equal((await careful.refused('extend', { extensionId }))['error'], 'no_spending_cap');
    assert.equal((await careful.refused('stop', { rentalId }))['error'], 'not_opened_here');
    await agent.call('stop', { rentalId });
    const { pid } = careful.transport;
    await careful.leave();
    await until('its process has ended', () => !isAlive(pid!));
  });

  it('ends what it may have opened, though the service could not say so', async () => {
    for (const [status, error, details] of [
      [500, 'internal_error', { outcome: 'unknown' }],
      [503, 'temporarily_unavailable', { outcome: 'unknown' }],
      [409, 'idempotency_in_progress', {}],
    ] as const) {
      const between = await startBetween(mock.url, ({ rentalId }) => ({
        status,
        body: { error, message: error, requestId: 'req_1', details: { ...details, rentalId } },
      }));
      const unsure = await start({ apiUrl: between.url, allowUncapped: true });
      const { quoteId } = await unsure.call('quote', { ...small, autoStopAfterHours: 1 });
      const failed = await unsure.refused('rent', { quoteId });
      assert.equal(failed['error'], error);
      const { rentalId } = failed['details'] as { rentalId: string };
      await unsure.call('stop', { rentalId });
      await unsure.leave();
      await between.stop();
    }
  });

  it('says that nothing was done where nobody answers', async () => {
    const gone = await startMock({ port: 0 });
    await gone.stop();
    const lost = await start({ apiUrl: gone.url });
    const refused = await lost.refused('list');
    assert.deepEqual([refused['error'], refused['next']], ['no_answer', 'Nothing happened. Try again.']);
    await lost.leave();
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
