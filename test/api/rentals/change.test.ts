import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental, insertRunningRental, insertStoppedRental } from '../../support/money/factories.js';

const HOUR = 3_600_000;

describe('PATCH /v1/rentals/:id', () => {
  let api: TestApi;
  let user: SignedIn;

  before(async () => {
    // Temporal is away: what does not need it must work all the same.
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  const patch = (id: string, body: object, key?: string): Promise<Answer> =>
    user.patch(`/v1/rentals/${id}`, body, key === undefined ? {} : { 'Idempotency-Key': key });
  const shown = ({ body }: Answer) => body as unknown as { name: string | null; labels: object };

  it('changes the name and the labels, and nothing that is not sent', async () => {
    const { id } = await insertRental(api.db, user.user.id, { name: 'old' });
    const first = await patch(id, { labels: { team: 'a', stage: 'test' } });
    assert.deepEqual([first.status, shown(first).name], [200, 'old']);
    assert.deepEqual(shown(first).labels, { stage: 'test', team: 'a' });
    const second = await patch(id, { name: 'new' });
    assert.deepEqual([shown(second).name, shown(second).labels], ['new', { stage: 'test', team: 'a' }]);
    const third = await patch(id, { name: '', labels: {} });
    assert.deepEqual([shown(third).name, shown(third).labels], [null, {}]);
    assert.deepEqual((await user.get(`/v1/rentals/${id}`)).body, third.body);
  });

  it('is audited by its id, with the client’s address, and is an event', async () => {
    const { id } = await insertRental(api.db, user.user.id);
    await patch(id, { name: 'x', labels: { a: 'b' } });
    const [change] = await api.db('rental_changes').where({ user_id: user.user.id });
    const audit = (await api.db('audit_events').where({ entity_id: change!.id }).first())!;
    assert.deepEqual([audit.kind, audit.client_address], ['rental_changed', '127.0.0.1']);
    assert.deepEqual([audit.details!['rentalId'], audit.details!['changed']], [id, ['name', 'labels']]);
    const { rows } = await api.db.raw<{ rows: object[] }>(
      `select type, entity_id, data ->> 'changeId' as change from event_outbox where user_id = ? and type like 'rental.%'`,
      [user.user.id],
    );
    assert.deepEqual(rows, [{ type: 'rental.changed', entity_id: id, change: change!.id }]);
  });

  it('is done once per Idempotency-Key, for one rental and one body', async () => {
    const { id } = await insertRental(api.db, user.user.id);
    const other = await insertRental(api.db, user.user.id);
    const first = await patch(id, { name: 'one' }, 'key');
    await patch(id, { name: 'two' });
    const again = await patch(id, { name: 'one' }, 'key');
    assert.deepEqual([again.status, again.body], [200, first.body]);
    assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
    assert.equal(shown(await user.get(`/v1/rentals/${id}`)).name, 'two');
    for (const [rentalId, body] of [
      [id, { name: 'three' }],
      [other.id, { name: 'one' }],
    ] as const) {
      const answer = await patch(rentalId, body, 'key');
      assert.deepEqual([answer.status, answer.body.error], [409, 'idempotency_conflict']);
    }
  });

  it('goes on with a change whose answer was lost, and never makes one that was given up', async () => {
    const { id, no } = await insertRental(api.db, user.user.id, { name: 'old' });
    await patch(id, { name: 'new' }, 'lost');
    await api.db('rentals').where({ id }).update({ name: 'newer' });
    await api
      .db('idempotency_keys')
      .where({ user_id: user.user.id })
      .update({ response_status: null, response_body: null });
    assert.equal(shown(await patch(id, { name: 'new' }, 'lost')).name, 'newer');
    assert.equal((await api.db('rental_changes').where({ rental_no: no })).length, 1);
  });

  it('of the labels is refused once it is settled; the name may change for ever', async () => {
    const { id } = await insertStoppedRental(api.db, user.user.id);
    const refused = await patch(id, { labels: { team: 'a' }, name: 'x' });
    assert.deepEqual([refused.status, refused.body.error], [409, 'already_stopped']);
    assert.deepEqual(refused.body.details, { status: 'stopped', finalChargedCents: 100, refundedCents: 30 });
    assert.equal(shown(await user.get(`/v1/rentals/${id}`)).name, null, 'nothing was changed');
    assert.equal(shown(await patch(id, { name: 'x' })).name, 'x');
  });

  it('of a limit is refused once it has ended, without asking anybody', async () => {
    const stopped = await insertStoppedRental(api.db, user.user.id);
    const ending = await insertRunningRental(api.db, user.user.id, HOUR);
    await api.db('rentals').where({ no: ending.no }).update({
      status: 'stopping',
      stop_reason: 'spend_limit',
      ended_at: ending.started_at,
    });
    for (const [id, code] of [
      [stopped.id, 'already_stopped'],
      [ending.id, 'rental_ending'],
    ] as const) {
      const answer = await patch(id, { maxSpendCents: 5, name: 'new' }, code);
      assert.deepEqual([answer.status, answer.body.error], [409, code]);
      const again = await patch(id, { maxSpendCents: 5, name: 'new' }, code);
      assert.deepEqual([again.body.error, again.headers.get('Idempotent-Replayed')], [code, 'true']);
      assert.equal(shown(await user.get(`/v1/rentals/${id}`)).name, null);
    }
  });

  it('of a limit is a 503 that says that nothing was done, while Temporal is away', async () => {
    const { id } = await insertRental(api.db, user.user.id, { name: 'old' });
    const answer = await patch(id, { maxSpendCents: 5, name: 'new' });
    assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
    const { changeId, outcome } = answer.body.details as unknown as Record<string, string>;
    assert.match(changeId ?? '', /^chg_/);
    assert.equal(outcome, 'not_done');
    assert.equal(shown(await user.get(`/v1/rentals/${id}`)).name, 'old');
    const keyed = await patch(id, { maxSpendCents: 5 }, 'key');
    const details = keyed.body.details as unknown as Record<string, string>;
    assert.deepEqual([details['outcome'], details['lookAt']], ['unknown', `/v1/rentals/${id}`]);
  });

  it('refuses what is no change, naming the field, and changes nothing', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, HOUR, { name: 'old' });
    const beyond = (ms: number) => new Date(rental.running_at!.getTime() + 720 * HOUR + ms).toISOString();
    const { body: late } = await patch(rental.id, { autoStopAt: beyond(1) });
    assert.match(late.message, /autoStopAt may be at most 720 hours after billing began: /);
    const labels = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'v']));
    const wrong: [body: object, field: string][] = [
      [{}, 'body'],
      [{ colour: 'red' }, 'colour'],
      [{ labels }, 'labels'],
      [{ name: 'new', labels: { A: 'b' } }, 'labels.A'],
      [{ name: 'x'.repeat(65) }, 'name'],
      [{ name: 7 }, 'name'],
      [{ maxSpendCents: 0 }, 'maxSpendCents'],
      [{ maxSpendCents: 1.5 }, 'maxSpendCents'],
      [{ maxSpendCents: '5' }, 'maxSpendCents'],
      [{ autoStopAfterHours: 0 }, 'autoStopAfterHours'],
      [{ autoStopAfterHours: 721 }, 'autoStopAfterHours'],
      [{ autoStopAt: 'tomorrow' }, 'autoStopAt'],
      [{ autoStopAt: '2026-01-01T00:00:00' }, 'autoStopAt'],
      [{ autoStopAt: 7 }, 'autoStopAt'],
      [{ autoStopAt: beyond(1) }, 'autoStopAt'],
      [{ autoStopAt: beyond(0), autoStopAfterHours: 2 }, 'autoStopAt'],
      [{ status: 'stopped' }, 'status'],
    ];
    for (const [body, field] of wrong) {
      const answer = await patch(rental.id, body);
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed'], JSON.stringify(body));
      assert.deepEqual(
        answer.body.details.fields.map((fault) => fault.field),
        [field],
      );
    }
    assert.equal((await patch(rental.id, { autoStopAt: beyond(0) })).status, 503, 'that one is allowed');
    assert.equal((await api.db('rental_changes').where({ rental_no: rental.no })).length, 0);
    assert.equal((await user.get(`/v1/rentals/${rental.id}`)).body.name, 'old');
  });

  it('is 404 for another user’s rental, as for none', async () => {
    const other = await api.signIn();
    const { id } = await insertRental(api.db, other.user.id);
    for (const each of [id, newId('rent'), 'rent_1']) {
      const answer = await patch(each, { name: 'mine' });
      assert.deepEqual([answer.status, answer.body.error], [404, 'rental_not_found']);
    }
  });
});
