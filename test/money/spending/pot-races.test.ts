import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { Database } from '../../../adapters/postgres/database.js';
import { insertChange } from '../../../adapters/postgres/rentals/changes.js';
import type { WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { saveBudget } from '../../../adapters/postgres/spending/budgets.js';
import { setCap } from '../../../adapters/postgres/spending/caps.js';
import type { ApiKeyId, RentalId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import { changeRental } from '../../../money/rentals/change.js';
import { giveUpRental } from '../../../money/rentals/lifecycle.js';
import { openRental } from '../../../money/rentals/open.js';
import { insertListing, insertProvider } from '../../support/money/factories.js';
import { insertKey } from '../../support/money/keys.js';
import { getRental, insertWallet, onVerifiedDatabase } from '../../support/money/money.js';
import { TestMarket } from '../../support/money/test-market.js';
import { until } from '../../support/until.js';

/** How the race ended: with what the limit is then, or the code of the refusal. */
type Outcome = number | null | string;

/**
 * A rental gets no limit while the pot that must hold it is set. Whoever comes second waits for the first, and sees it.
 * Each test stops the first one in its transaction by a lock, so that the second one certainly comes meanwhile.
 */
describe('a cap or a hard budget that is set at the moment when a rental gets no limit', () => {
  let db: Database;
  let wallet: WalletRow;
  let key: ApiKeyId;
  onVerifiedDatabase(async (opened) => {
    ({ db } = opened);
    await insertListing(db, { price_per_hour_cents: 50, provider_code: await insertProvider(db) });
    await db.raw(`create function wait_at_gate() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(4712); return new; end $$`);
    for (const [table, event] of [
      ['rentals', 'insert or update of max_spend_cents'],
      ['api_keys', 'update of spend_cap_cents'],
      ['budgets', 'insert'],
    ]) {
      await db.raw(`create trigger wait_at_gate before ${event} on ${table}
        for each row execute function wait_at_gate()`);
    }
  });
  beforeEach(async () => {
    wallet = await insertWallet(db, 1_000);
    key = await insertKey(db, wallet.user_id, null);
  });

  type Pot = 'cap' | 'budget';
  const pots: readonly Pot[] = ['cap', 'budget'];
  const ways = ['opening', 'change'] as const;

  const setters: Readonly<Record<Pot, () => Promise<Outcome>>> = {
    cap: () => db.transaction((trx) => setCap(trx, { id: key, user_id: wallet.user_id }, 500)),
    budget: async () => {
      const settings = { monthlyCents: 500, hard: true };
      const saved = await db.transaction((trx) => saveBudget(trx, wallet.user_id, settings, () => undefined));
      return saved.settings.monthlyCents;
    },
  };

  async function open(by: ApiKeyId | undefined, maxSpendCents: number | null): Promise<RentalId> {
    const request = {
      ...{ userId: wallet.user_id, familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04' },
      ...{ region: null, name: null, sshKeyIds: [], autoStopAfterMs: null, maxPricePerHourCents: null },
      ...{ maxSpendCents, ...(by !== undefined && { apiKeyId: by }) },
    };
    const answerBefore = new Date(Date.now() + 60_000).toISOString();
    const opening = { rentalId: newId('rent'), request, answerBefore };
    const answer = await openRental(db, opening, new TestMarket(db), rentalLimits.freeMachines);
    if (answer instanceof Refusal) throw answer;
    return answer.rentalId;
  }

  async function takeLimitAway(id: RentalId): Promise<RentalId> {
    const change = newId('chg');
    const answerBefore = new Date(Date.now() + 60_000);
    await insertChange(db, {
      ...{ id: change, rental: await getRental(db, id), asked: { maxSpendCents: null }, answerBefore },
    });
    const told = { rentalId: id, changeId: change, answerBefore: answerBefore.toISOString() };
    const refusal = await changeRental(db, told);
    if (refusal) throw refusal;
    return id;
  }

  /** @returns what asks for no limit, when it is called */
  async function asker(way: (typeof ways)[number], pot: Pot): Promise<() => Promise<Outcome>> {
    const by = pot === 'cap' ? key : undefined;
    const limited = way === 'change' ? await open(by, 100) : undefined;
    return async () => {
      const id = await (limited === undefined ? open(by, null) : takeLimitAway(limited));
      return (await getRental(db, id)).max_spend_cents;
    };
  }

  /** Lets the first one come to the held lock, and the second one come meanwhile. */
  async function race(
    lock: string,
    first: () => Promise<Outcome>,
    second: () => Promise<Outcome>,
  ): Promise<{ first: Outcome; second: Outcome; waited: boolean }> {
    const holding = await db.transaction();
    const running: Promise<Outcome>[] = [];
    let isDone = false;
    try {
      await holding.raw(lock, lock.includes('?') ? [wallet.user_id] : []);
      running.push(first().catch(codeOf));
      await until('the first one is held', async () => (await waiting()) === 1);
      running.push(
        second()
          .catch(codeOf)
          .finally(() => (isDone = true)),
      );
      await until('the second one waits, or is done', async () => isDone || (await waiting()) === 2);
    } finally {
      await holding.commit();
    }
    const waited = !isDone;
    const [one, other] = await Promise.all(running);
    return { first: one!, second: other!, waited };
  }

  const gate = 'select pg_advisory_xact_lock(4712)';
  const account = 'select 1 from users where id = ? for no key update';

  for (const pot of pots) {
    for (const way of ways) {
      it(`is refused when it comes while the ${way} is under way: ${pot}`, async () => {
        const ask = await asker(way, pot);
        // A rental's transaction has the key's row by the time at which it waits for the account's.
        const outcome = await race(pot === 'cap' ? account : gate, ask, setters[pot]);
        assert.deepEqual(outcome, { first: null, second: `${pot}_reserved`, waited: true });
      });

      it(`holds the ${way} that comes while it is being set: ${pot}`, async () => {
        const ask = await asker(way, pot);
        const outcome = await race(gate, setters[pot], ask);
        assert.deepEqual(outcome, {
          ...{ first: 500, second: way === 'opening' ? 200 : 'validation_failed', waited: true },
        });
      });
    }
  }

  it('refuses a raise that the budget alone does not hold, and names none but its own rentals to a capped key', async () => {
    key = await insertKey(db, wallet.user_id, 500);
    const own = await open(key, 100);
    await open(undefined, 150);
    await setters.budget();
    await db('budgets').where({ user_id: wallet.user_id }).update({ monthly_cents: 300 });
    const raise = async (
      by: ApiKeyId | undefined,
      id: RentalId,
      to: number,
    ): Promise<Refusal | undefined> => {
      const change = newId('chg');
      const answerBefore = new Date(Date.now() + 60_000);
      const rental = await getRental(db, id);
      await insertChange(db, { id: change, rental, asked: { maxSpendCents: to }, answerBefore });
      assert.equal(rental.api_key_id ?? undefined, by);
      return changeRental(db, { rentalId: id, changeId: change, answerBefore: answerBefore.toISOString() });
    };
    const refusal = await raise(key, own, 151);
    assert.deepEqual(
      [refusal?.code, refusal?.details?.['leftCents'], refusal?.details?.['reservedBy']],
      ['budget_reserved', 50, [{ rentalId: own, reservedCents: 100 }]],
    );
    assert.equal(await raise(key, own, 150), undefined);
    await giveUpRental(db, own, null);
  });

  function codeOf(error: unknown): string {
    if (error instanceof Refusal) return error.code;
    throw error;
  }

  async function waiting(): Promise<number> {
    const { rows } = await db.raw<{ rows: { count: number }[] }>(
      `select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.count ?? 0;
  }
});
