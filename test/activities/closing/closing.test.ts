import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { tieToMarks } from '../../../adapters/postgres/accounts/account-ties.js';
import {
  insertClosing,
  listOpenClosings,
  wakeClosing,
} from '../../../adapters/postgres/accounts/closings.js';
import { findOrInsertUser } from '../../../adapters/postgres/accounts/users.js';
import { isHeld, listOpenMarks } from '../../../adapters/postgres/payments/charge-marks.js';
import { readStanding } from '../../../adapters/postgres/accounts/standing.js';
import { prune } from '../../../adapters/postgres/upkeep/retention.js';
import type { AccountClosingRow } from '../../../adapters/postgres/rows/tables.js';
import { closingLimits } from '../../../domain/accounts/closing.js';
import { retention } from '../../../domain/operations/retention.js';
import type { UserId } from '../../../domain/ids.js';
import type { EventLook } from '../../../workflows/contracts/events.js';
import { closingWorld, installationKey } from '../../support/activities/closing-world.js';
import { insertRental, insertUser } from '../../support/money/factories.js';
import { untilSomeoneWaits } from '../../support/someone-waits.js';
import { getWallet } from '../../support/money/money.js';

describe('the closing of an account', () => {
  const world = closingWorld();

  const setClosing = (columns: Partial<AccountClosingRow>) =>
    world.db('account_closings').where({ user_id: world.userId }).update(columns);

  describe('of what is open', () => {
    it('ends machines, and goes on only when they are gone', async () => {
      const rental = await insertRental(world.db, world.userId);
      const row = await world.close();
      assert.deepEqual([row.state, row.waits_for], ['stopping', ['rentals']]);
      const stop = await world.db('stop_requests').where({ rental_no: rental.no }).first();
      assert.equal(stop?.requested_by, 'user');
      assert.ok(world.temporal.ids.includes(rental.id));
      const at = new Date();
      await world.db('stop_requests').where({ rental_no: rental.no }).update({ open: false });
      await world
        .db('rentals')
        .where({ no: rental.no })
        .update({ status: 'stopped', ended_at: at, settled_at: at, closed_at: at, settled_seq: 0 });
      assert.equal((await world.look()).state, 'kept');
    });

    it('waits for a debt and a dispute, for a while', async () => {
      const paymentId = await world.pay(1_000);
      const wallet = await getWallet(world.db, world.userId);
      await world.owe(900);
      await world.db('refunds_and_disputes').insert({
        ...{ id: `dp_${newId('top')}`, kind: 'dispute', payment_id: paymentId, amount_cents: 1_000 },
        ...{ status: 'needs_response', user_id: world.userId, wallet_id: wallet.id },
      });
      const row = await world.close();
      assert.deepEqual([row.state, row.waits_for], ['settling', ['invoices', 'disputes']]);
      await world
        .db('account_closings')
        .where({ user_id: world.userId })
        .update({ requested_at: new Date(0) });
      // The disputed payment gives nothing back: what was paid in waits for operators.
      assert.deepEqual((await world.look()).waits_for, ['refused_refunds']);
    });

    it('asks for the void of each offer that could be paid, given up or not, and says why', async () => {
      const debt = await world.owe(900);
      const open = await world.offer('open');
      const givenUp = await world.offer('uncollectible');
      const row = await world.close();
      assert.deepEqual([row.state, row.waits_for], ['settling', ['invoices']]);
      const asked = await world
        .db('invoices')
        .where({ user_id: world.userId })
        .whereNotNull('void_requested_at')
        .orderBy('id');
      assert.deepEqual(
        asked.map((one) => [one.id, one.void_reason, one.closed_at]),
        [open, givenUp].sort().map((id) => [id, 'its account is being closed', null]),
      );
      assert.ok(asked.every(({ id, attention_at: at }) => id !== debt && at !== null));
    });
  });

  describe('of its person', () => {
    it('erases the processor’s customer, the address, names and keys, and mails nothing more', async () => {
      await world.pay(500);
      await world.spend(500);
      await world.give(100);
      const { email } = (await world.db('users').where({ id: world.userId }).first())!;
      await world.db('ssh_keys').insert({
        ...{
          id: newId('key'),
          user_id: world.userId,
          name: 'my laptop',
          public_key: 'ssh-ed25519 AAAA',
          fingerprint: 'SHA256:x',
        },
      });
      await world.close();
      assert.deepEqual(world.deleted, [world.customer]);
      const { rows } = await world.db.raw<{ rows: { name: string }[] }>(
        `select table_name as name from information_schema.tables
          where table_schema = 'public' and table_type = 'BASE TABLE'`,
      );
      for (const { name } of rows) {
        for (const word of [email, `project of ${world.customer}`, 'my laptop', world.customer]) {
          const found = await world.db.raw<{ rows: unknown[] }>(
            `select 1 from ${name} t where strpos(to_jsonb(t)::text, ?) > 0`,
            [word],
          );
          assert.equal(found.rows.length, 0, `${word} in ${name}`);
        }
      }
      assert.ok(
        (await world.db('rentals').where({ user_id: world.userId })).length > 0,
        'what was rented stays',
      );
    });

    const make = (email: string) =>
      world.db.transaction((trx) =>
        findOrInsertUser(trx, email, {
          ...{ id: newId('usr'), autoTopupDailyCapCents: null, madeFrom: undefined, installationKey },
        }),
      );
    const blockOf = async (id: UserId): Promise<string | null> =>
      (await readStanding(world.db, id)).blockedReason;

    it('recognizes a blocked mailbox, and a card whose payment was denied', async () => {
      const email = `ann.${world.userId.toLowerCase()}@gmail.com`;
      await world
        .db('users')
        .where({ id: world.userId })
        .update({ email, blocked_at: new Date(), blocked_reason: 'fraud' });
      await world.db('account_ties').insert({ user_id: world.userId, kind: 'card', value: 'fp_1' });
      await world.db('charge_marks').insert({
        ...{
          id: `dp_${world.userId}`,
          kind: 'dispute',
          charge_id: 'ch_1',
          user_id: world.userId,
          fingerprint: 'fp_1',
        },
      });
      await world.close();
      const kept = await world
        .db('charge_marks')
        .where({ id: `dp_${world.userId}` })
        .first();
      assert.match(kept?.fingerprint ?? '', /^hmac:[0-9a-f]{64}$/);
      const again = await make(email.replace('ann.', 'a.n.n.').replace('@', '+x@'));
      assert.match((await blockOf(again.user.id)) ?? '', /an earlier account/);
      assert.equal(await isHeld(world.db, again.user.id), true);
      const other = await make(`other-${world.userId.toLowerCase()}@example.com`);
      assert.equal(await blockOf(other.user.id), null);
      assert.equal(await isHeld(world.db, other.user.id), false);
      await world.db('account_ties').insert({ user_id: other.user.id, kind: 'card', value: 'fp_1' });
      await tieToMarks(world.db, other.user.id, installationKey);
      assert.equal(await isHeld(world.db, other.user.id), true);
    });

    it('recognizes them live: an account that is there already, a mark that comes late, and one that is lifted', async () => {
      const email = `bob.${world.userId.toLowerCase()}@gmail.com`;
      await world.db('users').where({ id: world.userId }).update({ email });
      await world.db('account_ties').insert({ user_id: world.userId, kind: 'card', value: 'fp_2' });
      const owner = await make(`owner-${world.userId.toLowerCase()}@example.com`);
      await world.db('account_ties').insert({ user_id: owner.user.id, kind: 'card', value: 'fp_2' });
      await world.close();
      const again = await make(email.replace('bob.', 'bob'));
      assert.equal(await isHeld(world.db, again.user.id), false);
      const mark = { id: `dp_${world.userId}`, kind: 'dispute', charge_id: 'ch_2' } as const;
      await world.db('charge_marks').insert({ ...mark, user_id: world.userId, fingerprint: 'fp_2' });
      await world.look();
      for (const { user } of [again, owner]) assert.equal(await isHeld(world.db, user.id), true);
      await world.db('charge_marks').where({ id: mark.id }).update({ lifted_at: new Date() });
      for (const { user } of [again, owner]) assert.equal(await isHeld(world.db, user.id), false);
    });

    it('holds who saved a denied card for as long as its mark stands, and shows it', async () => {
      const owner = await make(`saved-${world.userId.toLowerCase()}@example.com`);
      const saved = (userId: UserId) => ({
        ...{ pm_id: `pm_${userId}`, user_id: userId, brand: 'visa', last4: '4242', set_up_at: new Date() },
        ...{ exp_month: 1, exp_year: 2040, fingerprint: 'fp_4' },
      });
      await world.db('saved_cards').insert([saved(world.userId), saved(owner.user.id)]);
      await world.close();
      const cards = () => world.db('closed_marks').where({ user_id: world.userId, kind: 'card' });
      assert.equal((await cards()).length, 1, 'a card that never paid is recognized as well');
      const id = `dp_${world.userId}`;
      const mark = { id, kind: 'dispute', charge_id: 'ch_4', fingerprint: 'fp_4' } as const;
      await world.db('charge_marks').insert({ ...mark, user_id: world.userId });
      await world.look();
      await world.db('account_ties').update({ tied_at: new Date(Date.now() - 400 * 86_400_000) });
      const kept = retention.find(({ table }) => table === 'account_ties')!;
      await prune(world.db, kept);
      assert.equal(await isHeld(world.db, owner.user.id), true);
      assert.deepEqual(
        (await listOpenMarks(world.db, owner.user.id)).map((one) => one.id),
        [id],
      );
      const late = await make(`late-${world.userId.toLowerCase()}@example.com`);
      await world.db('saved_cards').insert(saved(late.user.id));
      await tieToMarks(world.db, late.user.id, installationKey);
      assert.equal(await isHeld(world.db, late.user.id), true);
    });

    it('keeps each mark once, and forgets the card, however often it is done', async () => {
      await world.db('account_ties').insert({ user_id: world.userId, kind: 'card', value: 'fp_3' });
      await tieToMarks(world.db, world.userId, installationKey);
      await world.close();
      await world.look();
      const marks = await world.db('closed_marks').where({ user_id: world.userId }).orderBy('kind');
      assert.deepEqual(
        marks.map(({ kind }) => kind),
        ['card', 'mailbox'],
      );
      assert.equal(await world.db('account_ties').where({ value: 'fp_3' }).first(), undefined);
    });

    it('keeps the address of a new account for a day, so that its bound outlives it', async () => {
      const tie = { user_id: world.userId, kind: 'address', value: '203.0.113.9' } as const;
      await world.db('account_ties').insert(tie);
      await world.close();
      assert.ok(await world.db('account_ties').where(tie).first());
      await world
        .db('account_ties')
        .where(tie)
        .update({ tied_at: new Date(Date.now() - 25 * 3_600_000) });
      await world.look();
      assert.equal(await world.db('account_ties').where(tie).first(), undefined);
    });

    it('takes an address out of a text only where it stands as a whole', async () => {
      const { email } = (await world.db('users').where({ id: world.userId }).first())!;
      const others = [`jo${email}`, `jo-${email}`, `${email}.uk`, `${email}x`];
      const body = ['To', `<${email}>,`, `"${email.toUpperCase()}".`, ...others].join(' ');
      const [mail] = await world
        .db('mail_outbox')
        .insert({ cause: `code:${Date.now()}`, recipient: `jo${email}`, subject: 'x', body })
        .returning('id');
      await world.close();
      const after = await world.db('mail_outbox').where({ id: mail!.id }).first();
      assert.equal(after?.body, ['To', `<${world.userId}>,`, `"${world.userId}".`, ...others].join(' '));
    });

    it('erases what comes late about it, by its numbers', async () => {
      await world.close();
      const event = { kind: 'customer.deleted', created_at: new Date(), livemode: false };
      const id = `evt_${newId('top')}`;
      const object = {
        id: world.customer,
        object: 'customer',
        email: 'ann@x.org',
        metadata: { user_id: world.userId },
      };
      await world.db('processor_events').insert({ id, ...event, object });
      await world.look();
      const row = await world.db('processor_events').where({ id }).first();
      assert.deepEqual(row?.object, { object: 'customer', metadata: { user_id: world.userId } });
    });

    for (const when of ['while it is being closed', 'long after it was closed'] as const) {
      it(`leaves an order readable until it is decided, ${when}`, async () => {
        const request = {
          kind: 'issue_invoice',
          userId: world.userId,
          amountCents: 5,
          description: 'a wire',
        };
        const id = newId('op');
        const order = { kind: 'issue_invoice', reason: 'a call', request: JSON.stringify(request) as never };
        await world.db('operator_orders').insert({ id, ...order } as never);
        await world.close();
        if (when === 'long after it was closed') {
          await setClosing({ late_until: new Date(0) });
          assert.equal((await world.look()).state, 'closed');
        }
        const read = async () => (await world.db('operator_orders').where({ id }).first())!;
        const open = await read();
        assert.deepEqual([open.request, open.reason], [request, 'a call']);
        await world.db('operator_orders').where({ id }).update({ status: 'rejected', rejected_why: 'no' });
        await setClosing({ requested_at: new Date(0) });
        assert.ok((await listOpenClosings(world.db)).includes(world.userId), 'a workflow begins by itself');
        await world.look();
        const decided = await read();
        assert.deepEqual(
          ['description' in decided.request, decided.reason, decided.rejected_why],
          [false, 'erased', 'erased'],
        );
      });
    }

    it('takes the words of an order that is decided in its last look', async () => {
      const id = newId('op');
      const request = { kind: 'issue_invoice', userId: world.userId, amountCents: 5, description: 'a wire' };
      const order = { kind: 'issue_invoice', reason: 'a call', request: JSON.stringify(request) as never };
      await world.db('operator_orders').insert({ id, ...order } as never);
      await world.close();
      await setClosing({ late_until: new Date(0) });
      const deciding = await world.db.transaction();
      await deciding('operator_orders').where({ id }).update({ status: 'rejected', rejected_why: 'no' });
      const looking = world.look();
      try {
        await Promise.race([looking, untilSomeoneWaits(world.db, 'the look waits for the decision')]);
      } finally {
        await deciding.commit();
      }
      const row = await looking;
      assert.deepEqual([row.state, row.waits_for], ['kept', ['late_events']]);
      assert.ok(row.late_until! > new Date(), 'somebody looks once more');
      await world.look();
      assert.equal((await world.db('operator_orders').where({ id }).first())?.reason, 'erased');
      await setClosing({ late_until: new Date(0) });
      assert.equal((await world.look()).state, 'closed');
    });

    it('looks again where money comes in its last look', async () => {
      await world.close();
      await setClosing({ late_until: new Date(0) });
      const coming = await world.db.transaction();
      await wakeClosing(coming, world.userId);
      const looking = world.look();
      try {
        await Promise.race([looking, untilSomeoneWaits(world.db, 'the look waits for the money')]);
      } finally {
        await coming.commit();
      }
      const row = await looking;
      assert.deepEqual([row.state, row.waits_for], ['kept', ['late_events']]);
      assert.ok(row.late_until! > new Date(), 'somebody looks once more');
    });

    it('is erased one account after the other, and those that wait hold nothing', async () => {
      const others = await Promise.all(Array.from({ length: 30 }, () => insertUser(world.db)));
      for (const { id } of others) await insertClosing(world.db, id);
      const seen: EventLook[] = [];
      // The processor answers once all of them have looked.
      world.lone.processor.answers.deleteCustomer = async () => {
        const looks = others.map(({ id }) => world.lone.run('lookAtClosing', id));
        seen.push(...(await Promise.all(looks)));
      };
      assert.equal((await world.close()).state, 'kept');
      assert.equal(seen.length, others.length);
      for (const { status, nextLookMs } of seen)
        assert.deepEqual([status, nextLookMs], ['erasing', closingLimits.turnMs]);
      assert.equal((await world.lone.run('lookAtClosing', others[0]!.id)).status, 'kept');
    });

    it('tells operators of the first erasure that takes the database too long', async () => {
      await insertClosing(world.db, world.userId);
      await world.db.raw(`create function slow() returns trigger language plpgsql as
        $$ begin raise exception 'too slow' using errcode = '57014'; end $$`);
      await world.db.raw('create trigger slow before update on users for each row execute function slow()');
      try {
        await assert.rejects(world.look(), /too slow/);
        assert.match((await world.told()).join(), /took too long to erase its person/);
      } finally {
        await world.db.raw('drop trigger slow on users');
      }
      assert.equal((await world.look()).state, 'kept');
    });

    it('is over once nothing late can come, and is looked at until then', async () => {
      await world.close();
      await setClosing({ requested_at: new Date(0) });
      assert.ok((await listOpenClosings(world.db)).includes(world.userId));
      await setClosing({ late_until: new Date(0) });
      assert.equal((await world.look()).state, 'closed');
      assert.ok(!(await listOpenClosings(world.db)).includes(world.userId));
    });
  });
});
