import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import type { Answer } from '../../support/http/answers.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

const HOUR = 3_600;

describe('a rental that is changed', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;

  before(async () => {
    service = await startService();
    renting = new Renting(service);
  });
  beforeEach(async () => {
    user = await service.signIn(20_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await service.gpus.faults({ bootMs: 100 });
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  const patch = (id: RentalId, body: object, key?: string): Promise<Answer> =>
    user.patch(`/v1/rentals/${id}`, body, key === undefined ? {} : { 'Idempotency-Key': key });

  it('stops at its new limit, of which its workflow learns at once', async () => {
    const { id } = await renting.run(user, b200);
    // A machine that stands still for some seconds must not find it beyond this limit already.
    const answer = await patch(id, { autoStopAfterHours: 6 / HOUR, name: 'short' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const closed = await renting.awaitClosed(id);
    assert.equal(closed.ended_at!.getTime() - closed.running_at!.getTime(), 6_000);
    assert.deepEqual([closed.stop_reason, closed.name, netCents(closed)], ['auto_stop', 'short', 7]);
  });

  it('keeps each cent when its limit is lowered below what was charged', async () => {
    const { id } = await renting.run(user, b200, { maxSpendCents: 15_000 });
    await renting.age(id, 3 * HOUR);
    const charged = netCents(await renting.row(id));
    assert.ok(charged >= 11_976);
    const answer = await patch(id, { maxSpendCents: 1 });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const closed = await renting.awaitClosed(id);
    assert.ok(netCents(closed) >= charged, `${netCents(closed)} of ${charged}`);
    assert.deepEqual([closed.refunded_cents, closed.stop_reason], [0, 'spend_limit']);
    assert.equal(netCents(closed), priceOf(closed));
  });

  it('goes on beyond the limit that was raised in time', async () => {
    const { id } = await renting.run(user, b200, { autoStopAfterHours: 5 / HOUR });
    assert.equal((await patch(id, { autoStopAfterHours: null })).status, 200);
    await until('it runs longer', async () => netCents(await renting.row(id)) >= 7);
    await renting.stop(user, id);
    assert.equal((await renting.awaitClosed(id)).stop_reason, 'user');
  });

  it('while it is provisioned keeps the limit for its running time', async () => {
    await service.gpus.faults({ bootMs: 1_500 });
    const id = await renting.open(user, b200);
    const answer = await patch(id, { autoStopAfterHours: 1 / HOUR });
    assert.deepEqual([answer.status, answer.body.status], [200, 'provisioning'], JSON.stringify(answer.body));
    const closed = await renting.awaitClosed(id);
    assert.equal(closed.ended_at!.getTime() - closed.running_at!.getTime(), 1_000);
  });

  it('is changed ten times at once: each is answered and audited, and the last one holds', async () => {
    const { id, no } = await renting.run(user, b200);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => patch(id, { maxSpendCents: 5_000 + index })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 10 }, () => 200),
    );
    const changes = await service.db('rental_changes').where({ rental_no: no }).whereNotNull('limits_at');
    const audit = await service
      .db('audit_events')
      .where({ kind: 'rental_changed', user_id: user.user.id })
      .whereNotNull('client_address');
    assert.deepEqual([changes.length, audit.length], [10, 10]);
    const { max_spend_cents: last } = await renting.row(id);
    const replaced = new Set(changes.map(({ was_max_spend_cents: was }) => was));
    assert.ok(changes.some(({ new_max_spend_cents: to }) => to === last) && !replaced.has(last));
    await renting.stop(user, id);
    await renting.awaitClosed(id);
  });

  it('gives a retry with the same key its first answer, also after the rental has ended', async () => {
    const { id } = await renting.run(user, b200);
    const first = await patch(id, { maxSpendCents: 9_000 }, 'key');
    assert.equal((await patch(id, { maxSpendCents: 8_000 })).status, 200);
    await service
      .db('idempotency_keys')
      .where({ user_id: user.user.id, endpoint: 'PATCH /v1/rentals/:id' })
      .update({ response_status: null, response_body: null });
    const again = await patch(id, { maxSpendCents: 9_000 }, 'key');
    assert.deepEqual([again.status, again.headers.get('Idempotent-Replayed')], [200, 'true']);
    assert.equal((await renting.row(id)).max_spend_cents, 8_000, 'nothing was done again');
    await renting.stop(user, id);
    await renting.awaitClosed(id);
    const late = await patch(id, { maxSpendCents: 9_000 }, 'key');
    assert.deepEqual([late.status, late.body], [200, again.body]);
    assert.equal(first.status, 200);
    const refused = await patch(id, { maxSpendCents: 9_000 }, 'other');
    assert.deepEqual([refused.status, refused.body.error], [409, 'already_stopped']);
  });

  it('tells Temporal neither name nor label', async () => {
    const { id } = await renting.run(user, b200, { labels: { secretkey: 'secretvalue' } });
    const body = { name: 'secretname', labels: { secretother: 'secretmore' }, maxSpendCents: 7_000 };
    assert.equal((await patch(id, body)).status, 200);
    await renting.stop(user, id);
    await renting.awaitClosed(id);
    const history = await service.temporal.workflow.getHandle(id).fetchHistory();
    const text = JSON.stringify(history, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    assert.ok(text.includes('chg_'));
    assert.ok(!text.includes('secret'));
  });

  it('is a 503 under the metering brake, and can be changed after it', async () => {
    const { id } = await renting.run(user, b200);
    await service.db('brakes').insert({ kind: 'metering', pulled_by: 'ann', reason: 'test' });
    try {
      const answer = await patch(id, { maxSpendCents: 1 });
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      assert.equal((answer.body.details as unknown as Record<string, string>)['outcome'], 'not_done');
    } finally {
      await service.db('brakes').delete();
    }
    assert.equal((await patch(id, { maxSpendCents: 1 })).status, 200);
    await renting.awaitClosed(id);
  });
});
