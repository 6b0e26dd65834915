import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import { pino } from 'pino';
import { deliveryOf } from '../../../activities/upkeep/mail.js';
import { deliverIntents } from '../../../activities/upkeep/deliver-intents.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { redeliver } from '../../../activities/upkeep/redeliver.js';
import { newId } from '../../../adapters/ids.js';
import { acknowledgeLook } from '../../../adapters/postgres/upkeep/look-signals.js';
import { insertMail } from '../../../adapters/postgres/upkeep/outbox.js';
import { deliverDueMails } from '../../../adapters/postgres/upkeep/outbox-delivery.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import type { UserId } from '../../../domain/ids.js';
import { ageLoops } from '../../support/story/ageing.js';
import { insertUser } from '../../support/money/factories.js';
import { getWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** The time of 100,000 rounds of a loop with a round each ten seconds: eleven and a half days. */
const AGED_MS = 100_000 * 10 * SECOND;

/**
 * The loops after 100,000 rounds, with one item of each kind that is never done. The clock moves from one due instant
 * to the next. Temporal is a counter of the signals sent to it.
 */
describe('loops that are 100,000 rounds old', () => {
  let database: MoneyDatabase;
  let deps: ActivityDeps;
  const signals = new Map<string, number>();
  /** The workflows that never look, whatever signal they get. */
  const deaf = new Set<string>();
  let sendTries = 0;

  before(async () => {
    database = await openMoneyDatabase();
    const { db } = database;
    const workflow = {
      async signalWithStart(_type: string, { workflowId }: { workflowId: string }) {
        signals.set(workflowId, (signals.get(workflowId) ?? 0) + 1);
        if (deaf.has(workflowId)) return;
        const userId = workflowId.slice('auto-topup:'.length) as UserId;
        const { id } = await getWallet(db, userId);
        await db('intents')
          .where({ wallet_id: id })
          .update({ acknowledged_at: db.raw('clock_ms()') });
        await acknowledgeLook(db, workflowId, new Date(Date.now() + HOUR));
      },
      getHandle: () => ({
        describe: () => Promise.reject(new WorkflowNotFoundError('none', 'watermark', undefined)),
      }),
    };
    const temporal = { workflow, withDeadline: (_: number, work: () => unknown) => work() };
    deps = {
      ...{ db, log: pino({ level: 'silent' }), temporal, providers: new Map() },
      mail: {
        send: ({ to }: { to: string }) => {
          if (!to.startsWith('poison')) return Promise.resolve();
          sendTries += 1;
          return Promise.reject(new Error('550 no such mailbox'));
        },
      },
      settings: { deployment: 'test' },
    } as unknown as ActivityDeps;
  });
  after(() => database.close());

  it('have signalled what is never done a bounded number of times, and serve its neighbours at once', async () => {
    const { db } = database;
    const leave = async (userId: UserId): Promise<void> => {
      const { id } = await getWallet(db, userId);
      await db.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?) on conflict do nothing`, [
        id,
      ]);
    };
    const [bad, good] = [await insertUser(db), await insertUser(db)];
    const [intentId, eventId, invoiceId] = [autoTopupWorkflowId(bad.id), 'pi_never', newId('inv')] as const;
    for (const id of [intentId, eventId, invoiceId]) deaf.add(id);
    await leave(bad.id);
    await db('processor_events').insert({
      ...{ id: 'evt_never', kind: 'payment_intent.succeeded', livemode: false, object: {} },
      ...{ created_at: new Date(), workflow_type: 'payment', workflow_id: eventId },
    });
    await db('invoices').insert({
      ...{ id: invoiceId, user_id: bad.id, wallet_id: (await getWallet(db, bad.id)).id, status: 'draft' },
      ...{ reason: 'manual', amount_cents: 500, cause: 'test' },
    });
    const mail = (recipient: string, codeId: number) =>
      insertMail(db, {
        cause: { kind: 'login_code', codeId },
        recipient,
        message: { subject: 's', text: 'b', html: null },
        wipeAfterSending: false,
      });
    await mail('poison@example.com', 0);

    let healthy = 0;
    for (let agedMs = 0; agedMs < AGED_MS;) {
      await leave(good.id);
      await mail('ann@example.com', healthy + 1);
      await deliverIntents(deps);
      await redeliver(deps);
      await sendMails();
      healthy += 1;
      assert.equal(
        signals.get(autoTopupWorkflowId(good.id)),
        healthy,
        'the neighbour is told in the same round',
      );
      assert.equal(await unsent(), 1, 'and the mails behind the one that fails are sent');
      // The steps are short while everything is young, and later about as long as the longest pause.
      const stepMs = agedMs < 2 * HOUR ? 30 * SECOND : HOUR * 0.9;
      await ageLoops(db, stepMs);
      agedMs += stepMs;
    }
    const days = AGED_MS / (24 * HOUR);
    const most = 12 * 2 + (days + 1) * 24 * 1.1;
    for (const id of [intentId, eventId, invoiceId]) {
      const sent = signals.get(id) ?? 0;
      assert.ok(sent > days * 12 && sent < most, `${id} was signalled ${sent} times in ${days} days`);
    }
    assert.ok(sendTries > days * 12 && sendTries < most, `${sendTries} tries of a mail`);
    const aside = await db('stuck_items').whereNotNull('set_aside_at').orderBy('duty').select('duty', 'item');
    assert.deepEqual(
      aside.map(({ duty }) => duty),
      ['mail', 'workflow', 'workflow', 'workflow'],
    );

    async function unsent(): Promise<number> {
      return (await db('mail_outbox').whereNull('sent_at')).length;
    }
    async function sendMails(): Promise<void> {
      while ((await deliverDueMails(db, deliveryOf(deps))).due > 0);
    }
  });

  it('tell a workflow at most 1,000 times in a day, however well it looks', async () => {
    const { db } = database;
    const user = await insertUser(db);
    const workflowId = autoTopupWorkflowId(user.id);
    await db.raw(
      `insert into look_signals (workflow_id, workflow_type, wanted_at, counted_on, signals)
       values (?, 'autoTopup', clock_ms(), (clock_ms() at time zone 'UTC')::date, 990)`,
      [workflowId],
    );
    for (let told = 0; told < 20; told += 1) {
      const { id } = await getWallet(db, user.id);
      await db.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?) on conflict do nothing`, [
        id,
      ]);
      await deliverIntents(deps);
      await db('intents')
        .where({ wallet_id: id })
        .update({ acknowledged_at: db.raw('clock_ms()') });
    }
    assert.equal(signals.get(workflowId), 10);
    // The next day.
    await db('look_signals')
      .where({ workflow_id: workflowId })
      .update({ counted_on: db.raw('counted_on - 1') });
    const { id } = await getWallet(db, user.id);
    await db.raw(`insert into intents (kind, wallet_id) values ('auto_topup', ?)`, [id]);
    await deliverIntents(deps);
    assert.equal(signals.get(workflowId), 11);
  });
});
