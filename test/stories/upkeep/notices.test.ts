import assert from 'node:assert/strict';
import type { MailOutboxRow } from '../../../adapters/postgres/rows/tables.js';
import type { RentalId } from '../../../domain/ids.js';
import type { Mail } from '../../../lab/mail/store.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { b200, Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { beginEarlier } from '../../support/money/begin-earlier.js';

describe('what users are told without having asked (decision 103)', () => {
  let service: TestService;
  let renting: Renting;
  let paying: Paying;
  let user: SignedIn;

  before(async () => {
    service = await startService({ noticeQuietMs: 0 });
    renting = new Renting(service);
    paying = new Paying(service);
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  function outbox(of: SignedIn): Promise<MailOutboxRow[]> {
    return service.db('mail_outbox').where({ recipient: of.user.email }).orderBy('id');
  }

  /** Waits until a user was told all that there is. @returns their mails, of which each is whole */
  async function mailsOf(of: SignedIn): Promise<MailOutboxRow[]> {
    return until('the user is told', async () => {
      const untold = await service
        .db('user_notices')
        .where({ user_id: of.user.id })
        .whereNull('told_at')
        .first();
      const rows = await outbox(of);
      return untold === undefined && rows.length > 0 && rows;
    });
  }

  /** Waits for the one mail about a machine, and checks it. */
  async function toldOf(of: SignedIn, id: RentalId, subject: string): Promise<MailOutboxRow> {
    const [mail, ...more] = await mailsOf(of);
    assert.deepEqual([mail?.subject, more], [subject, []]);
    for (const part of [mail?.body, mail?.html]) assert.ok(part?.includes(id));
    return mail!;
  }

  it('several that ended with the money, in one mail', async () => {
    const poor = await service.signIn(3 * rtx4090.pricePerHourCents);
    const ids: RentalId[] = [];
    for (let at = 0; at < 3; at += 1) ids.push((await renting.run(poor, rtx4090)).id);
    await beginEarlier(service.db, ids, 3_700);
    for (const id of ids) {
      assert.equal((await renting.awaitClosed(id)).stop_reason, 'balance_exhausted');
    }
    const mails = (await mailsOf(poor)).filter(({ cause }) => !cause.startsWith('low_balance'));
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      ['Your balance ran out, so we stopped 3 of your machines'],
    );
    for (const id of ids)
      assert.ok(mails[0]?.body?.includes(`${id}  1 × RTX 4090  $0.40`), mails[0]?.body ?? '');
    assert.equal(mails[0]?.unsubscribe_url, null, 'what is about money is always sent');
  });

  it('one that never answered, with both parts and one click to switch it off', async () => {
    await service.gpus.faults({ bootNever: 1 });
    const id = await renting.openDirectly(user, b200, { provisionDeadlineMs: 700 });
    await renting.awaitClosed(id);
    await toldOf(user, id, 'We could not provide your machine');

    const received = await until('it arrives', async () => {
      const answer = await fetch(`${service.inbox.url}/mails?to=${user.user.email}`);
      return ((await answer.json()) as { mails: Mail[] }).mails[0];
    });
    assert.match(received.text, /did not answer within 1 seconds/);
    assert.match(received.html ?? '', /did not answer within 1 seconds/);
    assert.equal(received.listUnsubscribePost, 'List-Unsubscribe=One-Click');
    const url = received.listUnsubscribe?.slice(1, -1) ?? '';
    assert.ok(url.startsWith(service.api.url), url);
    assert.ok(received.html?.includes(`href="${url}"`));

    assert.equal((await fetch(url)).status, 200);
    assert.deepEqual(await service.db('notice_settings').where({ user_id: user.user.id }), []);
    assert.equal((await fetch(url, { method: 'POST', body: received.listUnsubscribePost })).status, 200);
    await service.gpus.faults({ bootNever: 1 });
    await renting.awaitClosed(await renting.openDirectly(user, b200, { provisionDeadlineMs: 700 }));
    assert.equal((await mailsOf(user)).length, 1, 'it is off');
  });

  it('a new key and a new card, whatever the key is called; and each once, over a restart', async () => {
    const name = `</td><img src=x onerror='a()'>`;
    const { body: key } = await user.post('/v1/ssh-keys', { name, generate: true });
    await paying.saveCard(user, 'pm_card_visa');
    const mails = await mailsOf(user);
    const [ofKey] = mails.filter(({ subject }) => subject.startsWith('An SSH key'));
    assert.ok(ofKey?.html);
    assert.ok(ofKey.body?.includes(`${name}: ${key.fingerprint}`));
    assert.ok(ofKey.html.includes('&lt;/td&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;'));
    assert.ok(!ofKey.html.includes('<img'));
    await service.stopWorker();
    await service.startWorker();
    await user.post('/v1/ssh-keys', { name: 'second', generate: true });
    await until('the second key is told', async () => (await outbox(user)).length === 3);
    assert.deepEqual((await outbox(user)).map(({ subject }) => subject).sort(), [
      'A card was saved to your account',
      ...Array<string>(2).fill('An SSH key was added to your account'),
    ]);
  });

  it('that auto-topup is off, when the processor drops the card and not when they remove it', async () => {
    const settings = { enabled: true, thresholdCents: 1_000, topupAmountCents: 2_000 };
    const cardId = await paying.saveCard(user, 'pm_card_visa');
    assert.equal((await user.put('/v1/billing/auto-topup', settings)).status, 200);
    await service.stripe.paymentMethods.detach(cardId);
    await until('auto-topup is off', async () => {
      const row = await service.db('auto_topups').where({ user_id: user.user.id }).first();
      return row?.enabled === false;
    });
    const next = await service.signIn();
    await paying.saveCard(next, 'pm_card_visa');
    assert.equal((await next.put('/v1/billing/auto-topup', settings)).status, 200);
    assert.equal((await next.delete('/v1/billing/card')).status, 200);
    const off = 'Automatic top-ups are off';
    assert.ok((await mailsOf(user)).some(({ subject }) => subject === off));
    assert.ok(!(await mailsOf(next)).some(({ subject }) => subject === off));
  });
});
