import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { keepHouse as keepHouseOf, mailExpiredCards } from '../../../activities/upkeep/housekeeping.js';
import { pruneInTurn } from '../../../activities/upkeep/pruning.js';
import { newId } from '../../../adapters/ids.js';
import { recordNotice } from '../../../adapters/postgres/operators/operator-notices.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import type { SavedCardRow } from '../../../adapters/postgres/rows/tables.js';
import { retention } from '../../../domain/operations/retention.js';
import { restoredMessage } from '../../../domain/operations/watermark.js';
import type { UserId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { ScriptedTemporal } from '../../support/activities/scripted-temporal.js';
import { runAlone } from '../../support/service/activity-context.js';
import { insertRunningRental, insertUser } from '../../support/money/factories.js';
import { ageLoops } from '../../support/story/ageing.js';

const operatorEmail = 'operators@example.com';
const HOUR = 3_600_000;

describe('housekeeping', () => {
  const temporal = new ScriptedTemporal();
  let lone: LoneActivities;
  before(async () => {
    lone = await startActivities({ temporal: temporal.port, settings: { operatorEmail } });
  });
  beforeEach(async () => {
    temporal.reset();
    for (const table of ['stuck_items', 'saved_cards', 'mail_outbox']) await lone.db(table).delete();
    await confirmDatabase(lone.db, null);
  });
  after(() => lone.close());

  const keepHouse = () => runAlone(() => keepHouseOf(lone.deps, () => undefined)).result;
  const watermark = async () => (await lone.db('watermark').first())?.value;
  const stuck = () => lone.db('stuck_items').select('duty', 'item', 'attempts').orderBy('item');

  describe('keepHouse', () => {
    it('raises the watermark by one each time, and tells Temporal of it', async () => {
      const before = (await watermark())!;
      assert.deepEqual(await keepHouse(), { watermark: before + 1, removed: 0 });
      assert.deepEqual(await keepHouse(), { watermark: before + 2, removed: 0 });
      assert.equal(temporal.watermark, before + 2);
      assert.deepEqual(temporal.ids, ['watermark', 'watermark']);
    });

    it('does nothing while Temporal is away, and counts it against nothing', async () => {
      const before = await watermark();
      temporal.isAway = true;
      await assert.rejects(keepHouse(), /nobody answers/);
      assert.equal(await watermark(), before);
      assert.deepEqual(await stuck(), []);
    });

    it('refuses while the database is behind what Temporal was told, and goes on once it is not', async () => {
      const before = (await watermark())!;
      temporal.watermark = before + 10;
      await assert.rejects(keepHouse(), { type: 'database_restored', message: restoredMessage });
      assert.equal(await watermark(), before);
      assert.deepEqual(temporal.asked, []);
      assert.equal((await lone.db('brakes').where({ kind: 'restored' })).length, 1);

      await lone.db('watermark').update({ value: before + 10 });
      assert.equal((await keepHouse()).watermark, before + 11);
      assert.deepEqual(await lone.db('brakes'), []);
    });

    it('leaves Temporal behind the database when its signal fails, never before it', async () => {
      const before = (await watermark())!;
      temporal.refusing.add('watermark');
      await assert.rejects(keepHouse(), /takes no more signals/);
      assert.deepEqual([await watermark(), temporal.watermark], [before + 1, null]);
      temporal.refusing.clear();
      assert.equal((await keepHouse()).watermark, before + 2);
    });

    it('tells operators once of what was noted for them, by mail', async () => {
      await recordNotice(lone.db, {
        cause: { kind: 'no_funds', provider: 'lab', day: '2026-11-22' },
        message: { subject: 'lab has no funds', text: 'pay it', html: null },
      });
      await keepHouse();
      await keepHouse();
      const mails = await lone.db('mail_outbox').select('recipient', 'subject', 'body');
      assert.deepEqual(mails, [{ recipient: operatorEmail, subject: 'lab has no funds', body: 'pay it' }]);
    });

    it('tells users of their budgets, and one who can’t be told keeps no other from it', async () => {
      const ids: UserId[] = [];
      for (const spent of [60, 85]) {
        const { id } = await insertUser(lone.db);
        ids.push(id);
        await insertRunningRental(lone.db, id, 1_000, { charged_cents: spent });
        await lone.db('budgets').insert({ user_id: id, monthly_cents: 100 });
      }
      const [unlucky, other] = ids.toSorted();
      await lone.db.raw(`create function refuse_alert() returns trigger language plpgsql as
        $$ begin raise exception 'not now'; end $$`);
      await lone.db.raw(`create trigger refuse_alert before insert on budget_alerts
        for each row when (new.user_id = '${unlucky!}') execute function refuse_alert()`);
      const told = async (id: UserId) => (await lone.db('budget_alerts').where({ user_id: id })).length;
      await keepHouse();
      assert.deepEqual([await told(unlucky!), (await told(other!)) > 0], [0, true]);
      assert.deepEqual(await stuck(), [{ duty: 'budget', item: unlucky, attempts: 1 }]);
      await lone.db.raw('drop trigger refuse_alert on budget_alerts');
      await ageLoops(lone.db, HOUR);
      await keepHouse();
      assert.ok((await told(unlucky!)) > 0);
      assert.deepEqual(await stuck(), []);
    });

    describe('that prunes', () => {
      /** Sessions that ended an hour ago, and one that lives. */
      async function leaveSessions(): Promise<UserId> {
        const { id } = await insertUser(lone.db);
        const created_at = new Date(Date.now() - 2 * HOUR);
        for (const expiresInMs of [-HOUR, -HOUR, HOUR]) {
          const expires_at = new Date(Date.now() + expiresInMs);
          await lone
            .db('sessions')
            .insert({ token_hash: randomBytes(32), user_id: id, created_at, expires_at });
        }
        return id;
      }

      async function leaveSignIn(): Promise<void> {
        await lone.db('oauth_states').insert({
          state_hash: randomBytes(32),
          browser_hash: randomBytes(32),
          provider: 'github',
          code_verifier: 'v'.repeat(43),
          nonce: 'n'.repeat(22),
          return_path: '/',
          created_at: new Date(Date.now() - 2 * HOUR),
          expires_at: new Date(Date.now() - HOUR),
        });
      }

      it('removes what has served its time and nothing else, once', async () => {
        const userId = await leaveSessions();
        assert.equal((await keepHouse()).removed, 2);
        assert.equal((await keepHouse()).removed, 0);
        assert.equal((await lone.db('sessions').where({ user_id: userId })).length, 1);
      });

      it('prunes the other tables when one fails, counts that, and forgets it once it goes well', async () => {
        await leaveSessions();
        await leaveSignIn();
        await lone.db.schema.renameTable('sessions', 'away');
        try {
          assert.equal((await keepHouse()).removed, 1);
          assert.deepEqual(await lone.db('oauth_states'), []);
          const item = 'pruning sessions: ended sign-ins';
          assert.deepEqual(await stuck(), [{ duty: 'upkeep', item, attempts: 1 }]);
        } finally {
          await lone.db.schema.renameTable('away', 'sessions');
        }
        assert.equal((await keepHouse()).removed, 2);
        assert.deepEqual(await stuck(), []);
      });

      it('counts the failures of two rules for one table apart', async () => {
        const rules = retention.filter(({ table }) => table === 'machine_reports');
        const [first, second] = [{ ...rules[0]!, since: 'unknown' }, rules[1]!];
        await runAlone(() => pruneInTurn([first, second])(lone.deps, () => undefined)).result;
        assert.deepEqual(
          (await stuck()).map(({ item }) => item),
          [`pruning machine_reports: ${first.what}`],
        );
      });

      describe('where a table takes longer than a round', () => {
        const rules = ['sessions', 'oauth_states', 'quotes'].map((table) =>
          retention.find((kept) => kept.table === table)!,
        );
        let nowMs = 0;
        let slowMs = 16_000;
        const inTurn = (batchRows?: number) => {
          const prune = pruneInTurn(rules, { now: () => nowMs, batchRows });
          const tell = (done: unknown) => {
            if ((done as { table: string }).table === 'sessions') nowMs += slowMs;
          };
          return () => runAlone(() => prune(lone.deps, tell)).result;
        };

        it('goes on behind it in the next round, and begins with it again later', async () => {
          const round = inTurn();
          await leaveSessions();
          await leaveSignIn();
          assert.equal(await round(), 2);
          assert.equal((await lone.db('oauth_states')).length, 1);
          await leaveSessions();
          assert.equal(await round(), 3);
          assert.deepEqual(await stuck(), []);
        });

        it('leaves the rest of that table to a later round', async () => {
          const round = inTurn(1);
          await leaveSessions();
          assert.deepEqual([await round(), await round()], [1, 1]);
        });

        it('tells operators what no round has reached for an hour, until one does', async () => {
          slowMs = HOUR;
          const round = inTurn();
          await round();
          assert.deepEqual(
            (await stuck()).map(({ item }) => item),
            rules
              .slice(1)
              .map(({ table, what }) => `pruning ${table}: ${what}`)
              .toSorted(),
          );
          slowMs = 0;
          await round();
          assert.deepEqual(await stuck(), []);
        });
      });
    });
  });

  describe('tellOfExpiredCards', () => {
    const heard: unknown[] = [];
    const tell = () =>
      runAlone(async () => ({
        expiredCards: await mailExpiredCards(lone.deps, (detail) => heard.push(detail)),
      })).result;
    /** This month, and the one before it. */
    const now = new Date();
    const month = { exp_year: now.getUTCFullYear(), exp_month: now.getUTCMonth() + 1 };
    const lastMonth =
      month.exp_month === 1
        ? { exp_year: month.exp_year - 1, exp_month: 12 }
        : { exp_year: month.exp_year, exp_month: month.exp_month - 1 };

    /** A user's card. @returns the user's address */
    async function saveCard(columns: Partial<SavedCardRow>): Promise<string> {
      const user = await insertUser(lone.db);
      await lone.db('saved_cards').insert({
        pm_id: `pm_${newId('op')}`,
        user_id: user.id,
        brand: 'visa',
        last4: '4242',
        exp_month: 12,
        exp_year: 2099,
        set_up_at: new Date(),
        ...columns,
      });
      return user.email;
    }
    const mailed = () => lone.db('mail_outbox').orderBy('id').pluck('recipient');

    it('tells nobody whose card is good: its month is not over', async () => {
      await saveCard(month);
      assert.deepEqual(await tell(), { expiredCards: 0 });
      assert.deepEqual(await mailed(), []);
    });

    it('tells each owner once, and nobody whose card is removed', async () => {
      await saveCard({ exp_year: 2020, removed_at: new Date(), removed_why: 'user' });
      const emails = [await saveCard({ exp_year: 2020 }), await saveCard(lastMonth)];
      assert.deepEqual(await tell(), { expiredCards: 2 });
      assert.deepEqual(await tell(), { expiredCards: 0 });
      assert.deepEqual(await mailed(), emails, 'those first that expired first');
      assert.equal(heard.length, 2, 'the round tells that it gets on');
    });

    it('tells the others when one can not be told, which is counted and told in time', async () => {
      const bad = await saveCard({ exp_year: 2020, pm_id: 'pm_bad' });
      const good = await saveCard({ exp_year: 2021 });
      await lone.db.raw(`alter table mail_outbox add constraint poison check (recipient <> '${bad}')`);
      try {
        assert.deepEqual(await tell(), { expiredCards: 1 });
        assert.deepEqual(await mailed(), [good]);
        assert.deepEqual(await stuck(), [{ duty: 'card_expiry', item: 'pm_bad', attempts: 1 }]);
      } finally {
        await lone.db.raw('alter table mail_outbox drop constraint poison');
      }
      assert.deepEqual(await tell(), { expiredCards: 0 }, 'not before its time');
      await ageLoops(lone.db, 20_000);
      assert.deepEqual(await tell(), { expiredCards: 1 });
      assert.deepEqual(await mailed(), [good, bad]);
      assert.deepEqual(await stuck(), []);
    });
  });
});
