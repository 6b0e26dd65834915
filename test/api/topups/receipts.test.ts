import assert from 'node:assert/strict';
import type { ActivityDeps } from '../../../activities/deps.js';
import { newId } from '../../../adapters/ids.js';
import { deliveryOf } from '../../../activities/upkeep/mail.js';
import type { Mail } from '../../../adapters/mailer/smtp.js';
import { unnamedSeller, type Seller } from '../../../domain/payments/receipt.js';
import type { TopupId, UserId } from '../../../domain/ids.js';
import { creditTopup } from '../../../money/payments/credit.js';
import { paymentOf } from '../../support/activities/scripted-processor.js';
import { insertTopup } from '../../support/money/factories.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { textsOfPdf } from '../../support/receipts.js';

const DETAILS = '/v1/billing/details';
const sellerInc = { name: 'Seller Inc', address: ['Town'], taxId: null };
const details = { name: 'Example Ltd', address: '1 High Street\nLondon', taxId: 'GB1' };

describe('receipts', function () {
  this.timeout(20_000);
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    api = await startApi({ settings: { seller: sellerInc } });
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  async function pay(userId: UserId = user.user.id, seller: Seller = sellerInc): Promise<string> {
    const topup = await insertTopup(api.db, userId);
    const card = { ...noCard, brand: 'visa', last4: '4242' };
    const payment = paymentOf({ topupId: topup.id, userId, amountCents: 2_000 });
    await creditTopup(api.db, topup.id, { ...payment, card }, seller);
    return topup.id;
  }
  const noCard = {
    ...{ cardId: 'pm_1', customerId: null, expMonth: 1, expYear: 2040 },
    ...{ fingerprint: null, keptByConsent: false },
  };

  async function textsOf(id: string): Promise<string> {
    const headers = { cookie: `sid=${user.sid}` };
    const answer = await fetch(`${user.url}/v1/billing/topups/${id}/receipt`, { headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/pdf');
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="receipt-${id}.pdf"`);
    return textsOfPdf(new Uint8Array(await answer.arrayBuffer()));
  }

  it('are made out to nobody at first, and to whom the user says', async () => {
    const none = { name: null, address: null, taxId: null };
    assert.deepEqual((await user.get(DETAILS)).body, none);
    assert.deepEqual((await user.put(DETAILS, details)).body, details);
    assert.deepEqual((await user.get(DETAILS)).body, details);
    const less = { name: 'Other Ltd', address: null, taxId: null };
    assert.deepEqual((await user.put(DETAILS, { name: 'Other Ltd', address: ' ', taxId: '' })).body, less);
    assert.deepEqual((await user.put(DETAILS, {})).body, none);
    assert.equal(await api.db('billing_details').where({ user_id: user.user.id }).first(), undefined);
  });

  it('tell the audit trail that their details were changed, and not to what', async () => {
    await user.put(DETAILS, details);
    await user.put(DETAILS, {});
    await user.put(DETAILS, { name: 5 });
    const { events } = (await user.get('/v1/audit?kind=billing_details_changed')).body as unknown as {
      events: { kind: string; details: unknown; clientAddress: string | null }[];
    };
    assert.equal(events.length, 2);
    assert.doesNotMatch(JSON.stringify(events), /Example|London|GB1/);
  });

  it('refuse details that are too long or no text, by the field', async () => {
    for (const [field, value] of [
      ['name', 'x'.repeat(151)],
      ['name', 'a\nb'],
      ['address', 'x'.repeat(301)],
      ['address', 'a\u0000b'],
      ['taxId', 5],
    ] as const) {
      const answer = await user.put(DETAILS, { [field]: value });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], field);
      assert.equal(answer.body.details.fields[0]!.field, field);
    }
  });

  it('tell what was paid, by which card, from whom and to whom', async () => {
    await user.put(DETAILS, details);
    const id = await pay();
    const texts = await textsOf(id);
    for (const text of [id, '$20.00', 'Visa ending in 4242', 'Seller Inc', 'Town', 'Example Ltd', 'London']) {
      assert.ok(texts.includes(text), `${text} is not in\n${texts}`);
    }
  });

  it('are 30 a minute, of which mistyped ids use up nothing', async () => {
    const id = await pay();
    const unknown = Array.from({ length: 31 }, () => user.get(`/v1/billing/topups/${newId('top')}/receipt`));
    for (const { status } of await Promise.all(unknown)) assert.equal(status, 404);
    const found = [];
    for (let nth = 0; nth < 31; nth += 1)
      found.push((await user.get(`/v1/billing/topups/${id}/receipt`)).status);
    assert.deepEqual(found, [...Array.from({ length: 30 }, () => 200), 429]);
  });

  it('keep the details of the payment, and show those of now where there were none', async () => {
    const nameless = await pay();
    await user.put(DETAILS, details);
    const named = await pay();
    await user.put(DETAILS, { name: 'Later Ltd' });
    assert.match(await textsOf(nameless), /Later Ltd/);
    assert.match(await textsOf(named), /Example Ltd/);
    await user.put(DETAILS, {});
    assert.doesNotMatch(await textsOf(nameless), /Ltd/);
  });

  it('keep the seller of the payment, and name that of now where none was kept', async () => {
    const former = await pay(user.user.id, { name: 'Former Ltd', address: ['Old Town'], taxId: 'GB9' });
    assert.match(await textsOf(former), /Former Ltd[^]*Old Town[^]*GB9/);
    assert.doesNotMatch(await textsOf(former), /Seller Inc/);
    await api
      .db('topups')
      .where({ id: former as TopupId })
      .update({ sold_by: null });
    assert.match(await textsOf(former), /Seller Inc/);
  });

  it('tell what was taken back', async () => {
    const id = await pay();
    const topup = await api
      .db('topups')
      .where({ id: id as TopupId })
      .first();
    await api.db('refunds_and_disputes').insert({
      ...{ id: `re_${id}`, kind: 'refund', payment_id: topup!.payment_id!, user_id: user.user.id },
      ...{ wallet_id: topup!.wallet_id, amount_cents: 500, debited_cents: 500, status: 'succeeded' },
      taken_at: new Date(),
    });
    assert.match(await textsOf(id), /−\$5\.00[^]*\$15\.00/);
  });

  it('are nobody else’s, and there are none of what was not paid', async () => {
    const unpaid = await insertTopup(api.db, user.user.id);
    const foreign = await pay((await api.signIn()).user.id);
    for (const id of [unpaid.id, foreign, 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x']) {
      const answer = await user.get(`/v1/billing/topups/${id}/receipt`);
      assert.deepEqual([answer.status, answer.body.error], [404, 'topup_not_found'], id);
    }
  });

  it('are attached to their mail, once for each payment', async () => {
    await user.put(DETAILS, details);
    const id = await pay();
    const mails = await api
      .db('mail_outbox')
      .where({ recipient: user.user.email })
      .where('cause', 'like', 'receipt:%');
    assert.equal(mails.length, 1);
    const sent: Mail[] = [];
    const mail = { send: (each: Mail) => Promise.resolve(void sent.push(each)), close: () => undefined };
    const settings = { deployment: 'test', seller: unnamedSeller };
    const delivery = deliveryOf({ db: api.db, mail, settings } as unknown as ActivityDeps);
    const [row] = mails;
    await delivery.send({ ...row!, body: row!.body ?? '' });
    await delivery.send({ ...row!, body: row!.body ?? '' });
    const [first, second] = sent.map(({ attachments = [] }) => attachments[0]!);
    assert.deepEqual([first!.filename, first!.contentType], [`receipt-${id}.pdf`, 'application/pdf']);
    assert.match(textsOfPdf(first!.content), /Example Ltd/);
    assert.ok(first!.content.equals(second!.content), 'a second copy is the same');
    await delivery.send({ ...row!, cause: 'receipt:pi_of_nobody', body: '' });
    assert.deepEqual(sent[2]!.attachments, []);
  });
});
