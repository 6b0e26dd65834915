import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { deleteSession, deleteSessionsOf, insertSession } from '../../adapters/postgres/accounts/sessions.js';
import { deleteSshKey, insertSshKey } from '../../adapters/postgres/accounts/ssh-keys.js';
import type { Database } from '../../adapters/postgres/database.js';
import { disableAutoTopup, saveAutoTopup } from '../../adapters/postgres/payments/auto-topup-settings.js';
import { markDetached, removeCardOfUser, saveCard } from '../../adapters/postgres/payments/saved-cards.js';
import type { InvoiceRow, TopupRow, WalletRow } from '../../adapters/postgres/rows/tables.js';
import type { Card } from '../../adapters/processor/processor.js';
import type { InvoiceId } from '../../domain/ids.js';
import { becomeOpen, becomeUncollectible, becomeVoid } from '../../money/invoices/invoice-states.js';
import { requestVoid } from '../../money/invoices/invoice-voids.js';
import { insertManualInvoice } from '../../money/invoices/manual-invoice.js';
import { post } from '../../money/ledger/post.js';
import { lockWalletOfUser } from '../../money/ledger/wallets.js';
import { unnamedSeller } from '../../domain/payments/receipt.js';
import { creditTopup, creditUser } from '../../money/payments/credit.js';
import { settleInvoice } from '../../money/payments/settle-invoice.js';
import { dropAutoTopup, failAutoTopup } from '../../money/topups/auto-topup-failures.js';
import { endTopup } from '../../money/topups/topups.js';
import { paymentOf } from '../support/activities/scripted-processor.js';
import { insertTopup } from '../support/money/factories.js';
import { insertWallet, onVerifiedDatabase } from '../support/money/money.js';
import { assertToldOnce, type Telling } from '../support/money/told-once.js';
import { toldEvents, toldTypes } from '../support/story/told-events.js';
import { untilSomeoneWaits } from '../support/someone-waits.js';

describe('the events of an account', () => {
  let db: Database;
  let wallet: WalletRow;
  onVerifiedDatabase((opened) => {
    db = opened.db;
  });
  beforeEach(async () => {
    wallet = await insertWallet(db, 1_000);
  });

  /** Asserts that something done to the user's account is told once, as it should. */
  function told(act: () => Promise<unknown>, tells: readonly Telling[], once?: true): Promise<void> {
    return assertToldOnce(db, {
      userId: wallet.user_id,
      act,
      tells,
      ...(once === true && { once }),
    });
  }

  describe('about top-ups', () => {
    const credited = (cents: number, seq = 2, entryType = 'processor_topup') =>
      [
        'wallet.credited',
        { amountCents: cents, balanceCents: 1_000 + cents, ledgerSeq: seq, entryType },
      ] as const;

    function topup(columns: Partial<TopupRow> = {}): Promise<TopupRow> {
      return insertTopup(db, wallet.user_id, columns);
    }

    function auto(): Promise<TopupRow> {
      const none = { session_id: null, checkout_url: null, session_expires_at: null };
      return topup({ source: 'auto_topup', status: 'processing', pm_id: 'pm_1', ...none });
    }

    const paymentFor = ({ id, user_id: userId }: TopupRow, cents = 2_000) =>
      paymentOf({ topupId: id, userId, amountCents: cents });

    it('tell one that was paid, with what came in', async () => {
      const row = await topup();
      const cents = { amountCents: 2_000, creditedCents: 1_900, source: 'checkout' };
      await told(
        () => creditTopup(db, row.id, paymentFor(row, 1_900), unnamedSeller),
        [credited(1_900), ['topup.succeeded', cents]],
      );
    });

    it('tell a page that is paid twice as two credits and one top-up', async () => {
      const row = await topup();
      await creditTopup(db, row.id, paymentFor(row), unnamedSeller);
      const second = { ...paymentFor(row), paymentId: 'pi_second' };
      await told(() => creditTopup(db, row.id, second, unnamedSeller), [['wallet.credited']]);
      // Its receipt was mailed: the number goes on saying the same.
      const kept = await db('topups').where({ id: row.id }).first('payment_id', 'credited_cents');
      assert.deepEqual([kept?.payment_id, kept?.credited_cents], [paymentFor(row).paymentId, 2_000]);
    });

    it('tell an automatic one as a top-up and as automatic', async () => {
      const row = await auto();
      await told(
        () => creditTopup(db, row.id, paymentFor(row), unnamedSeller),
        [
          credited(2_000, 2, 'auto_topup'),
          ['topup.succeeded', { amountCents: 2_000, creditedCents: 2_000, source: 'auto_topup' }],
          ['auto_topup.succeeded', { creditedCents: 2_000 }],
        ],
      );
    });

    it('tell one that failed or expired, and that it was paid after all', async () => {
      const row = await topup();
      const failed = { message: 'The bank declined.', declineCode: 'do_not_honor' };
      await told(
        () => endTopup(db, row.id, { status: 'failed', error: failed.message, declineCode: 'do_not_honor' }),
        [['topup.failed', { amountCents: 2_000, source: 'checkout', ...failed }]],
      );
      await told(
        () => creditTopup(db, row.id, paymentFor(row), unnamedSeller),
        [credited(2_000), ['topup.succeeded']],
      );
      const late = await topup();
      await told(
        () => endTopup(db, late.id, { status: 'expired' }),
        [['topup.expired', { amountCents: 2_000 }]],
      );
    });

    it('tell no end of one whose page may be open', async () => {
      const row = await topup();
      assert.equal(await endTopup(db, row.id, { status: 'failed', error: 'late', onlyUnsent: true }), false);
      assert.deepEqual(await toldTypes(db, row.id), []);
    });

    it('tell an automatic one that failed, and that automatic charges are off', async () => {
      const row = await auto();
      await db('auto_topups').insert(settingsOn());
      const failure = { declineCode: 'expired_card', error: 'The card has expired.' };
      await told(
        () => failAutoTopup(db, row, failure),
        [
          [
            'topup.failed',
            { amountCents: 2_000, source: 'auto_topup', declineCode: 'expired_card', message: failure.error },
          ],
          ['auto_topup.switched_off', { reason: 'charge_failed' }],
        ],
      );
    });

    it('tell an automatic one that never left', async () => {
      const row = await auto();
      await told(() => dropAutoTopup(db, row), [['topup.failed']]);
    });

    it('tell money that came by no top-up, and nothing of money that went', async () => {
      const payment = paymentOf({ topupId: newId('top'), userId: wallet.user_id, amountCents: 500 });
      await told(() => creditUser(db, wallet.user_id, payment), [credited(500)]);
      await db.transaction(async (trx) => {
        const locked = await lockWalletOfUser(trx, wallet.user_id);
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        await post(trx, locked, { type: 'adjustment', availableCents: -700, cause });
      });
      assert.equal((await toldEvents(db, wallet.user_id)).length, 2, 'the first money and the second');
    });
  });

  function settingsOn() {
    return {
      ...{ wallet_id: wallet.id, user_id: wallet.user_id, enabled: true },
      ...{ threshold_cents: 500, topup_amount_cents: 2_000 },
    };
  }

  describe('about invoices', () => {
    const mirror = {
      processorInvoiceId: 'in_1',
      hostedInvoiceUrl: 'http://127.0.0.1/in_1',
      invoicePdfUrl: 'http://127.0.0.1/in_1.pdf',
      status: 'open',
      totalCents: 700,
      amountPaidCents: 0,
      currency: 'usd',
      paymentId: null,
      paidAt: null,
      customerId: null,
      invoiceId: null,
    } as const;
    const about = { amountCents: 700, reason: 'manual' };

    async function draft(columns: Partial<InvoiceRow> = {}): Promise<InvoiceId> {
      return db.transaction(async (trx) => {
        const locked = await lockWalletOfUser(trx, wallet.user_id);
        const cause = { kind: 'operation', operationId: newId('op') } as const;
        const id = await insertManualInvoice(trx, locked, {
          cause,
          amountCents: 700,
          description: 'What is owed',
        });
        if (Object.keys(columns).length > 0) await trx('invoices').where({ id }).update(columns);
        return id;
      });
    }

    async function open(): Promise<InvoiceId> {
      const id = await draft({ processor_invoice_id: newId('inv') });
      await becomeOpen(db, id, mirror, 1_000);
      return id;
    }

    it('tell one that can be paid now, with the day by which it is due', async () => {
      const id = await draft({ processor_invoice_id: 'in_1' });
      await told(() => becomeOpen(db, id, mirror, 1_000), [['invoice.opened']]);
      const { due_at: dueAt } = (await db('invoices').where({ id }).first())!;
      const [event] = (await toldEvents(db, wallet.user_id)).slice(-1);
      assert.deepEqual(event?.data, { ...about, dueAt: dueAt?.toISOString() });
    });

    it('tell one that was paid', async () => {
      const id = await open();
      const paidAt = new Date('2026-11-01T09:30:00Z');
      await told(
        () => settleInvoice(db, id, { payment: null, paidAt }),
        [['invoice.paid', { ...about, paidAt: '2026-11-01T09:30:00.000Z' }]],
      );
    });

    it('tell one that was given up, and paid after all', async () => {
      const id = await open();
      await told(() => becomeUncollectible(db, id), [['invoice.uncollectible', about]]);
      await told(() => settleInvoice(db, id, { payment: null, paidAt: null }), [['invoice.paid']]);
    });

    it('tell one that is void: at once, or when the processor says so', async () => {
      const known = await open();
      await db.transaction((trx) => requestVoid(trx, known, 'a slip'));
      assert.deepEqual(await toldTypes(db, known), ['invoice.opened'], 'it is only asked for');
      await told(() => becomeVoid(db, known), [['invoice.voided', about]]);
      const unknown = await draft();
      await told(
        () => db.transaction((trx) => requestVoid(trx, unknown, 'a slip')),
        [['invoice.voided', about]],
      );
    });
  });

  describe('about cards and automatic charges', () => {
    const card = (cardId: string): Card => ({
      ...{ cardId, customerId: 'cus_1', brand: 'visa', last4: '4242', expMonth: 12, expYear: 2999 },
      ...{ fingerprint: null, keptByConsent: false },
    });
    const later = (ms: number) => new Date(Date.now() + ms);
    const save = (cardId: string, setUpAt: Date) =>
      saveCard(db, { userId: wallet.user_id, card: card(cardId), setUpAt });

    it('tell one that was saved, and the one that it replaces', async () => {
      const [first, second] = [newId('top'), newId('top')];
      await told(() => save(first, later(0)), [['card.saved', { brand: 'visa', last4: '4242' }]]);
      await told(
        () => save(second, later(1_000)),
        [['card.removed', { reason: 'replaced' }], ['card.saved']],
      );
      await save(newId('top'), later(-1_000));
      assert.equal(
        (await toldEvents(db, wallet.user_id)).length,
        1 + 3,
        'a card that comes too late is no news',
      );
    });

    it('tell one that its user removed, and that automatic charges are off with it', async () => {
      await save(newId('top'), later(0));
      await saveAutoTopup(db, wallet.user_id, { enabled: true, thresholdCents: 500 });
      await told(
        () => removeCardOfUser(db, wallet.user_id, undefined),
        [
          ['card.removed', { reason: 'user' }],
          ['auto_topup.switched_off', { reason: 'card_removed' }],
        ],
      );
    });

    it('tell one that is gone at the processor', async () => {
      const id = newId('top');
      await save(id, later(0));
      await told(() => markDetached(db, id), [['card.removed', { reason: 'detached' }]]);
    });

    it('tell that automatic charges went off by setting or by fault, once, and nothing of other settings', async () => {
      await save(newId('top'), later(0));
      const put = (enabled: boolean) => saveAutoTopup(db, wallet.user_id, { enabled, thresholdCents: 500 });
      await put(false);
      await put(true);
      assert.equal((await toldEvents(db, wallet.user_id)).length, 2);
      await told(() => put(false), [['auto_topup.switched_off', { reason: 'user' }]]);
      await put(true);
      await told(
        () => db.transaction((trx) => disableAutoTopup(trx, wallet.user_id, 'charges_held')),
        [['auto_topup.switched_off', { reason: 'charges_held' }]],
      );
    });

    it('tell each of two settings that come at once what it switches off', async () => {
      await save(newId('top'), later(0));
      const put = (enabled: boolean) => saveAutoTopup(db, wallet.user_id, { enabled, thresholdCents: 500 });
      const on = await db.transaction();
      await on.raw('select id from users where id = ? for no key update', [wallet.user_id]);
      await on('auto_topups').insert(settingsOn());
      const off = put(false);
      await untilSomeoneWaits(db, 'the second one waits for the first');
      await on.commit();
      await off;
      const types = (await toldEvents(db, wallet.user_id)).map(({ type }) => type);
      assert.equal(types.at(-1), 'auto_topup.switched_off');
    });
  });

  describe('about keys and sessions', () => {
    const userId = () => wallet.user_id;

    it('tell an SSH key that was added, and one that was removed, without its name', async () => {
      const key = { id: newId('key'), userId: userId(), name: 'laptop', publicKey: 'ssh-ed25519 AAAA' };
      const fingerprint = 'SHA256:abc';
      await told(
        () => db.transaction((trx) => insertSshKey(trx, { ...key, fingerprint })),
        [['ssh_key.added', { fingerprint }]],
      );
      await told(
        () => db.transaction((trx) => deleteSshKey(trx, userId(), key.id)),
        [['ssh_key.removed', { fingerprint }]],
      );
    });

    it('tell a session that began, and each that ended with who ended it', async () => {
      const begin = () => db.transaction((trx) => insertSession(trx, userId(), { by: 'email' }));
      await told(begin, [['session.started', { by: 'email' }]], true);
      const { token_hash: hash } = (await db('sessions').where({ user_id: userId() }).first())!;
      await told(
        () => db.transaction((trx) => deleteSession(trx, hash, 'sign_out')),
        [['session.ended', { by: 'sign_out' }]],
      );
      await Promise.all([begin(), begin()]);
      await told(
        () => db.transaction((trx) => deleteSessionsOf(trx, userId(), 'operator')),
        [
          ['session.ended', { by: 'operator' }],
          ['session.ended', { by: 'operator' }],
        ],
      );
    });
  });
});
