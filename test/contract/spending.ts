import assert from 'node:assert/strict';
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
}
