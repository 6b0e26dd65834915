import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { ContractClient } from './through-client.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

interface Budget {
  readonly monthlyCents: number | null;
  readonly hard: boolean;
  readonly month: string;
  readonly monthEndsAt: string;
  readonly spentCents: number;
  readonly reservedCents: number;
  readonly leftCents: number | null;
  readonly alertPercents: readonly number[];
}

interface Reached {
  readonly events: readonly {
    readonly entityId: string;
    readonly data: {
      readonly percent: number;
      readonly month: string;
      readonly spentCents: number;
      readonly monthlyCents: number;
    };
  }[];
}

interface Reserved {
  readonly leftCents: number;
  readonly askedCents: number;
  readonly limitCents: number;
  readonly reservedBy: readonly { readonly rentalId: string; readonly reservedCents: number }[];
  readonly unlimited: readonly { readonly rentalId: string }[];
}

/** What rentals may cost in all. */
export function describeSpending(backend: () => Backend): void {
  describe('a budget', () => {
    const machine = { familyId: 'rtx-4090', gpuCount: 1 };
    const budgetOf = async (person: Person): Promise<Budget> =>
      (await person.get('/v1/billing/budget')).body as unknown as Budget;

    it('is none at first, and tells the month', async () => {
      const { month, monthEndsAt, ...budget } = await budgetOf(await signIn(backend()));
      assert.deepEqual(budget, {
        ...{ monthlyCents: null, hard: false, spentCents: 0, reservedCents: 0, leftCents: null },
        alertPercents: [50, 80, 100],
      });
      assert.match(month, /^\d{4}-\d{2}$/);
      assert.match(monthEndsAt, /-01T00:00:00\.000Z$/);
    });

    it('holds new rentals and raised limits when it is hard, and names what holds the rest', async () => {
      const person = await signIn(backend());
      await topUp(backend(), person, 5_000);
      const free = (await person.post('/v1/rentals', machine)).body;
      const early = await person.put('/v1/billing/budget', { monthlyCents: 1_000, hard: true });
      assert.deepEqual([early.status, early.body.error], [403, 'budget_reserved']);
      assert.deepEqual((early.body.details as unknown as Reserved).unlimited, [{ rentalId: free.id }]);
      await person.post(`/v1/rentals/${free.id}/stop`);

      const set = await person.put('/v1/billing/budget', { monthlyCents: 1_000, hard: true });
      assert.equal(set.status, 200, JSON.stringify(set.body));
      const { id } = (await person.post('/v1/rentals', { ...machine, maxSpendCents: 600 })).body;
      const usual = (await person.post('/v1/rentals', machine)).body;
      const shown = (await person.get(`/v1/rentals/${usual.id}`)).body;
      const limit = (shown as unknown as { maxSpendCents: number }).maxSpendCents;
      assert.ok(limit > 0 && limit <= 400, 'four hours’ price, or what is left');

      const refused = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 1_000 });
      assert.deepEqual([refused.status, refused.body.error], [403, 'budget_reserved']);
      const details = refused.body.details as unknown as Reserved;
      assert.deepEqual([details.askedCents, details.limitCents], [400, 1_000]);
      assert.deepEqual(
        details.reservedBy.map(({ rentalId }) => rentalId),
        [id, usual.id],
      );
      const none = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: null });
      assert.deepEqual([none.status, none.body.error], [400, 'validation_failed']);
      assert.equal((await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 500 })).status, 200);

      for (const one of [id, usual.id]) await person.post(`/v1/rentals/${one}/stop`);
      assert.equal((await person.put('/v1/billing/budget', { monthlyCents: null })).status, 200);
      assert.deepEqual((await budgetOf(person)).leftCents, null);
    });
  });

  it('tells of each share of a budget that is spent, once', async () => {
    const person = await signIn(backend());
    await topUp(backend(), person, 20_000);
    await person.put('/v1/billing/budget', { monthlyCents: 1 });
    const { id } = (await person.post('/v1/rentals', { familyId: 'b200', gpuCount: 8 })).body;
    await until(
      'a cent is charged',
      async () => (await person.get(`/v1/rentals/${id}`)).body.totalChargedCents >= 1,
    );
    await person.post(`/v1/rentals/${id}/stop`);
    const told = async () => {
      await backend().lookAtBudgets();
      const { events } = (await person.get('/v1/events?types=budget.reached')).body as unknown as Reached;
      return events.length >= 3 && events;
    };
    const events = await until('it is told', told);
    assert.deepEqual(await told(), events);
    const { month } = (await person.get('/v1/billing/budget')).body as unknown as Budget;
    assert.deepEqual(
      events.map(({ entityId, data }) => [entityId, data.percent, data.month, data.monthlyCents]),
      [50, 80, 100].map((percent) => [person.user.id, percent, month, 1]),
    );
    assert.ok(events.every(({ data }) => data.spentCents >= 1));
  });

  describe('the cap of a key', () => {
    const machine = { familyId: 'rtx-4090', gpuCount: 1 };
    interface Key {
      readonly id: string;
      readonly key: string;
      readonly spendCapCents: number | null;
      readonly spentCents: number;
      readonly reservedCents: number;
    }
    let person: Person;
    let key: Key;
    let program: ContractClient;
    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 5_000);
      const asked = { name: 'a program', scopes: ['read', 'rentals', 'billing'], spendCapCents: 500 };
      key = (await person.post('/v1/api-keys', asked)).body as unknown as Key;
      program = Object.assign(new ContractClient(backend().url), { key: key.key });
    });
    const now = async (): Promise<Key> => (await person.get(`/v1/api-keys/${key.id}`)).body as unknown as Key;
    const change = async (spendCapCents: number | null) =>
      (await person.patch(`/v1/api-keys/${key.id}`, { spendCapCents })) as unknown as {
        status: number;
        body: Key;
      };

    it('holds what its rentals may cost, and names what holds the rest', async () => {
      const { body: other } = await person.post('/v1/rentals', machine);
      const { body: own } = await program.post('/v1/rentals', { ...machine, maxSpendCents: 400 });
      const refused = await program.post('/v1/rentals', { ...machine, maxSpendCents: 101 });
      assert.deepEqual([refused.status, refused.body.error], [403, 'cap_reserved']);
      const details = refused.body.details as unknown as Reserved;
      assert.deepEqual([details.askedCents, details.leftCents, details.limitCents], [101, 100, 500]);
      assert.deepEqual(details.reservedBy, [{ rentalId: own.id, reservedCents: 400 }]);
      const quoted = (await program.post('/v1/quotes', machine)).body;
      assert.equal((quoted as unknown as { capLeftCents: number }).capLeftCents, 100);

      assert.deepEqual(
        (await program.get('/v1/rentals')).body.rentals.map(({ id }) => id),
        [own.id],
      );
      assert.equal((await program.get(`/v1/rentals/${other.id}`)).body.error, 'rental_not_found');
      assert.equal((await program.get('/v1/billing/ledger')).body.error, 'session_required');
      assert.equal((await program.get(`/v1/billing/ledger?rentalId=${own.id}`)).status, 200);
      const raised = await program.patch(`/v1/rentals/${own.id}`, { maxSpendCents: 501 });
      assert.deepEqual([raised.status, raised.body.error], [403, 'cap_reserved']);
      assert.equal((await program.patch(`/v1/rentals/${own.id}`, { maxSpendCents: 300 })).status, 200);
      assert.equal((await now()).reservedCents, 300);
      await person.post(`/v1/rentals/${other.id}/stop`);
    });

    it('is raised, lowered to what is spent and reserved, and taken away', async () => {
      const { spentCents, reservedCents } = await now();
      assert.equal((await change(900)).body.spendCapCents, 900);
      assert.equal((await change(1)).body.spendCapCents, spentCents + reservedCents);
      assert.equal((await change(null)).body.spendCapCents, null);
      assert.equal((await change(600)).body.spendCapCents, 600);
      assert.equal((await change(600)).body.spendCapCents, 600);
      const told = await until('each change is told', async () => {
        const { body } = await person.get('/v1/events?types=api_key.changed');
        const { events } = body as unknown as { events: { entityId: string; data: object }[] };
        return events.length >= 4 && events;
      });
      assert.deepEqual(
        told.map(({ entityId, data }) => [entityId, data]),
        [0, 1, 2, 3].map(() => [key.id, { changed: ['spendCapCents'] }]),
      );
    });

    it('counts what a running machine has cost as spent, also for a key without a cap', async () => {
      const rich = await signIn(backend());
      await topUp(backend(), rich, 20_000);
      const asked = { name: 'free', scopes: ['read', 'rentals'] };
      const free = (await rich.post('/v1/api-keys', asked)).body as unknown as Key;
      const renter = Object.assign(new ContractClient(backend().url), { key: free.key });
      const body = { familyId: 'b200', gpuCount: 8, maxSpendCents: 5_000 };
      const { id } = (await renter.post('/v1/rentals', body)).body;
      const counted = await until('a cent is spent', async () => {
        const row = (await rich.get(`/v1/api-keys/${free.id}`)).body as unknown as Key;
        return row.spentCents >= 1 && row;
      });
      assert.equal(counted.spentCents + counted.reservedCents, 5_000);
      assert.equal((await rich.get(`/v1/rentals/${id}`)).body.status, 'running');
      await rich.post(`/v1/rentals/${id}/stop`);
    });

    it('gets back what was not used, when the key is revoked and its machines stop', async () => {
      const { status } = await person.delete(`/v1/api-keys/${key.id}?stopMachines=true`);
      assert.equal(status, 200);
      const settled = await until('its rental is settled', async () => {
        const row = await now();
        return row.reservedCents === 0 && row;
      });
      assert.ok(settled.spentCents < 300);
      const refused = await program.post('/v1/rentals', machine);
      assert.deepEqual([refused.status, refused.body.error], [401, 'key_revoked']);
    });
  });
}
