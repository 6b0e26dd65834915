import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { credit, getWallet } from '../../support/money/money.js';
import { insertTopup } from '../../support/money/factories.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';

interface Shown {
  readonly state: string | null;
  readonly requestedAt: string | null;
  readonly openInvoices: number;
  readonly returns: readonly unknown[];
  readonly lapsesCents: number;
}

describe('closing an account by its API', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  const close = (email = user.user.email) => user.post('/v1/account/close', { email });

  it('is asked for once, mailed, and repeated without harm', async () => {
    const first = await close(user.user.email.toUpperCase());
    assert.deepEqual([first.status, (first.body as unknown as Shown).state], [200, 'stopping']);
    const again = await close();
    assert.equal((again.body as unknown as Shown).requestedAt, (first.body as unknown as Shown).requestedAt);
    const mails = await api
      .db('mail_outbox')
      .where({ recipient: user.user.email, subject: 'Your account is being closed' });
    assert.equal(mails.length, 1);
  });

  it('wants the account’s own address', async () => {
    const { status, body } = await close('other@example.com');
    assert.deepEqual(
      [status, body.error, (body.details.fields as readonly { field: string }[])[0]?.field],
      [400, 'validation_failed', 'email'],
    );
    assert.equal(await api.db('account_closings').where({ user_id: user.user.id }).first(), undefined);
  });

  it('wants a fresh sign-in', async () => {
    await api
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({ proved_at: new Date(0) });
    assert.equal((await close()).body.error, 'fresh_sign_in_required');
  });

  it('tells what goes back to which card before anything happens', async () => {
    await credit(api.db, user.user.id, 1_500);
    const { id } = await getWallet(api.db, user.user.id);
    const { rows } = await api.db.raw<{ rows: { paymentId: string }[] }>(
      `select substr(cause, 9) as "paymentId" from ledger_causes where wallet_id = ? and cause like 'payment:%'`,
      [id],
    );
    const paymentId = rows[0]!.paymentId;
    const at = new Date();
    await insertTopup(api.db, user.user.id, {
      ...{
        status: 'succeeded',
        payment_id: paymentId,
        credited_cents: 1_500,
        credited_at: at,
        closed_at: at,
      },
      ...{ card_brand: 'visa', card_last4: '4242' },
    });
    const body = (await user.get('/v1/account/closing')).body as unknown as Shown;
    assert.deepEqual(
      [body.state, body.returns, body.lapsesCents],
      [null, [{ paymentId, amountCents: 1_500, cardBrand: 'visa', cardLast4: '4242', status: 'planned' }], 0],
    );
  });

  it('counts the invoices that are owed, and none that is being made or voided', async () => {
    const { id: walletId } = await getWallet(api.db, user.user.id);
    const asked = { void_requested_at: new Date(), void_reason: 'a mistake' };
    for (const columns of [
      {},
      { status: 'draft' },
      asked,
      { reason: 'topup_failed' },
      { status: 'uncollectible' },
    ] as const) {
      const id = newId('inv');
      await api.db('invoices').insert({
        ...{ id, user_id: user.user.id, wallet_id: walletId, status: 'open', reason: 'manual' },
        ...{ amount_cents: 700, cause: `test:${id}`, ...columns },
      });
    }
    const shown = (await user.get('/v1/account/closing')).body as unknown as Shown;
    const balance = (await user.get('/v1/billing/balance')).body;
    assert.deepEqual([shown.openInvoices, balance.openInvoiceCount], [1, 1]);
  });

  it('lets nothing new begin', async () => {
    await close();
    for (const [path, body] of [
      ['/v1/quotes', { familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04' }],
      ['/v1/billing/setup-intent', {}],
      ['/v1/api-keys', { name: 'late', scopes: ['read'] }],
    ] as const) {
      const answer = await user.post(path, body);
      assert.equal(answer.body.error, 'account_closing', `${path}: ${JSON.stringify(answer.body)}`);
    }
  });
});
