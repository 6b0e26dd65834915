import assert from 'node:assert/strict';
import {
  findRentalRequest,
  insertRentalRequest,
} from '../../../adapters/postgres/requests/opening-requests.js';
import { hashOfMachineToken } from '../../../adapters/machine-bundles.js';
import { createMachineDesk, insertMachineToken } from '../../../adapters/postgres/machines/machine-tokens.js';
import type { RentalId } from '../../../domain/ids.js';
import { reportedUse } from '../../../domain/machines/telemetry.js';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt, moveAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import {
  insertApiKeyOf,
  insertListing,
  insertProvider,
  insertRental,
  insertRunningRental,
  insertStoppedRental,
} from '../../support/money/factories.js';

const HOUR = 3_600_000;
const wish = { familyId: 'rtx-4090', gpuCount: 1 };
const guard = { stopWhenIdleMinutes: 30, idleIgnores: ['sessions'] };

/** What this test reads of answers. */
interface Told {
  readonly error?: string;
  readonly message?: string;
  readonly details?: {
    readonly misfits?: readonly { field: string; providerCode: string }[];
    readonly fields?: { field: string }[];
  };
  readonly listing?: { readonly providerCode: string };
  readonly telemetrySource?: string | null;
  readonly idleGuard: Record<string, unknown> | null;
  readonly stopWhenIdleMinutes?: number | null;
}

describe('the idle guard of a rental', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    // Temporal is away: nothing of it is needed here.
    api = await startApi();
  });
  beforeEach(async () => {
    await api.db('quotes').delete();
    await api.db('listings').delete();
    for (const code of ['lab', 'telling']) await insertProvider(api.db, code);
    await api.db('providers').update({ telemetry: null });
    user = await api.signIn();
  });
  after(() => api.stop());

  const tells = (code: string) =>
    api
      .db('providers')
      .where({ code })
      .update({ telemetry: { cpu: true, network: false, sessions: false } });
  const reports = (code: string) => api.db('providers').where({ code }).update({ telemetry: reportedUse });
  const told = async (asked: Promise<{ status: number; body: unknown }>): Promise<[number, Told]> => {
    const { status, body } = await asked;
    return [status, body as Told];
  };
  /** Gives a rental its machine. @returns how it asks to be kept alive from within */
  const insertMachine = async (rentalId: RentalId) => {
    const { id: attemptId } = await insertAttempt(api.db, {
      ...{ rentalId, deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
    const hash = hashOfMachineToken(rentalId);
    await insertMachineToken(api.db, { hash, attemptId, purpose: 'use', sealed: null });
    return async () => (await createMachineDesk(api.db).keepAlive(hash, 60))?.outcome;
  };
  const fieldsOf = ({ details }: Told): string[] | undefined =>
    (details?.misfits?.filter(({ providerCode }) => providerCode === 'lab') ?? details?.fields)?.map(
      ({ field }) => field,
    );

  it('is quoted with what it looks at, at the next offer whose upstream tells that', async () => {
    await insertListing(api.db, { provider_code: 'lab', price_per_hour_cents: 40 });
    await insertListing(api.db, { provider_code: 'telling', price_per_hour_cents: 50 });
    await tells('telling');
    const [status, quote] = await told(user.post('/v1/quotes', { ...wish, ...guard }));
    assert.equal(status, 200);
    assert.equal(quote.listing?.providerCode, 'telling');
    assert.deepEqual(quote.idleGuard, { minutes: 30, looksAt: ['gpu', 'cpu'], ignores: ['sessions'] });
    const [, plain] = await told(user.post('/v1/quotes', wish));
    assert.deepEqual([plain.listing?.providerCode, plain.idleGuard], ['lab', null]);
  });

  it('is refused by name where it can’t be told', async () => {
    await insertListing(api.db, { provider_code: 'lab' });
    const ask = (more: object) => told(user.post('/v1/quotes', { ...wish, ...more }));
    const [status, untold] = await ask(guard);
    assert.deepEqual([status, untold.error], [400, 'idle_guard_unsupported']);
    assert.deepEqual(fieldsOf(untold), ['stopWhenIdleMinutes']);
    await tells('lab');
    const [, sessions] = await ask({ stopWhenIdleMinutes: 30 });
    assert.deepEqual([sessions.error, fieldsOf(sessions)], ['idle_guard_unsupported', ['idleIgnores']]);
    assert.match(String(sessions.message), /lab can’t tell who is logged in/);
    for (const [more, field] of [
      [{ stopWhenIdleMinutes: 14 }, 'stopWhenIdleMinutes'],
      [{ stopWhenIdleMinutes: 1_441 }, 'stopWhenIdleMinutes'],
      [{ idleIgnores: ['sessions'] }, 'idleIgnores'],
      [{ ...guard, idleIgnores: ['gpu'] }, 'idleIgnores.0'],
    ] as const) {
      const [, refused] = await ask(more);
      assert.deepEqual([refused.error, fieldsOf(refused)], ['validation_failed', [field]]);
    }
  });

  it('is kept by a reporter where the upstream tells nothing, and asks for one', async () => {
    await insertListing(api.db, { provider_code: 'lab' });
    await reports('lab');
    const quoteOf = async (more: object) => (await told(user.post('/v1/quotes', { ...wish, ...more })))[1];
    const guarded = await quoteOf({ stopWhenIdleMinutes: 30 });
    assert.deepEqual(guarded.idleGuard?.['looksAt'], ['gpu', 'cpu', 'network', 'sessions']);
    assert.equal(guarded.telemetrySource, 'reporter');
    assert.equal((await quoteOf({ telemetry: true })).telemetrySource, 'reporter');
    for (const none of [{}, { telemetry: false }]) assert.equal((await quoteOf(none)).telemetrySource, null);
    await tells('lab');
    for (const any of [{}, { telemetry: true }]) {
      assert.equal((await quoteOf(any)).telemetrySource, 'upstream');
    }
  });

  it('is set later only where the machine was opened with its reporter', async () => {
    await reports('lab');
    const change = async (telemetry: boolean) => {
      const rental = await insertRunningRental(api.db, user.user.id, HOUR, { telemetry });
      return told(user.patch(`/v1/rentals/${rental.id}`, { stopWhenIdleMinutes: 30 }));
    };
    const [status, refused] = await change(false);
    assert.deepEqual([status, refused.error], [400, 'idle_guard_unsupported']);
    assert.deepEqual(fieldsOf(refused), ['stopWhenIdleMinutes']);
    assert.equal(refused.message, 'This machine was rented without a reporter, so it can’t be guarded now.');
    assert.equal((await change(true))[0], 200);
  });

  it('is not set while a machine without a reporter is ordered, and may be while one waits for its turn', async () => {
    await tells('telling');
    await reports('lab');
    const rental = await insertRental(api.db, user.user.id, { provider_code: 'telling', pod_id: null });
    const order = (launchAfterMs?: number) =>
      insertAttempt(api.db, {
        ...{ rentalId: rental.id, deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
        ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
        ...(launchAfterMs !== undefined && { launchAfterMs }),
      });
    const change = () => told(user.patch(`/v1/rentals/${rental.id}`, guard));
    const { id } = await order();
    const [status, refused] = await change();
    assert.deepEqual([status, refused.error], [400, 'idle_guard_unsupported']);
    assert.deepEqual(fieldsOf(refused), ['stopWhenIdleMinutes']);
    await moveAttempt(api.db, id, 'open', 'failed', { failedBy: 'upstream' });
    await order(60_000);
    assert.equal((await change())[0], 200);
  });

  it('is not needed for telemetry, which is refused by name where nobody tells it', async () => {
    await insertListing(api.db, { provider_code: 'lab' });
    const [status, refused] = await told(user.post('/v1/quotes', { ...wish, telemetry: true }));
    assert.deepEqual(
      [status, refused.error, fieldsOf(refused)],
      [400, 'idle_guard_unsupported', ['telemetry']],
    );
    assert.match(
      String(refused.message),
      /can tell how much it is used \(telemetry: lab does not tell .*\)\. Rent it without telemetry/,
    );
    const [, both] = await told(user.post('/v1/quotes', { ...wish, ...guard, telemetry: true }));
    assert.deepEqual(
      [both.error, fieldsOf(both)],
      ['idle_guard_unsupported', ['telemetry', 'stopWhenIdleMinutes']],
    );
    assert.match(String(both.message), /can guard it like this/);
    const [, wrong] = await told(user.post('/v1/quotes', { ...wish, telemetry: 'yes' }));
    assert.deepEqual([wrong.error, fieldsOf(wrong)], ['validation_failed', ['telemetry']]);
  });

  it('is kept with the request of an opening', async () => {
    const id = newId('rent');
    const idleGuard = { minutes: 45, ignores: ['sessions'] as const };
    await insertRentalRequest(
      api.db,
      id,
      {
        ...{ userId: user.user.id, ...wish, templateId: 'ubuntu-24-04', region: null, sshKeyIds: [] },
        ...{ autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null, idleGuard },
        telemetry: true,
      },
      new Date(Date.now() + HOUR),
    );
    const kept = await findRentalRequest(api.db, id);
    assert.deepEqual([kept?.idleGuard, kept?.telemetry], [idleGuard, true]);
  });

  it('is set, changed and taken away while the rental lives', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, HOUR);
    const change = (body: object) => told(user.patch(`/v1/rentals/${rental.id}`, body));
    const [, refused] = await change(guard);
    assert.deepEqual([refused.error, fieldsOf(refused)], ['idle_guard_unsupported', ['stopWhenIdleMinutes']]);
    await tells('lab');
    const [status, set] = await change(guard);
    assert.equal(status, 200, JSON.stringify(set));
    const fresh = { ignores: ['sessions'], idleSince: null, stopsAt: null, keepAliveUntil: null };
    assert.deepEqual([set.stopWhenIdleMinutes, set.idleGuard], [30, { minutes: 30, ...fresh }]);
    const [, longer] = await change({ ...guard, stopWhenIdleMinutes: 60 });
    assert.equal(longer.stopWhenIdleMinutes, 60);
    const events = await api.db('event_outbox').where({ entity_id: rental.id, type: 'rental.changed' });
    assert.deepEqual(
      events.map(({ data }) => data['changed']),
      [['stopWhenIdleMinutes'], ['stopWhenIdleMinutes']],
    );
    const [, none] = await change({ stopWhenIdleMinutes: null });
    assert.deepEqual([none.stopWhenIdleMinutes, none.idleGuard], [null, null]);
    const ended = await insertStoppedRental(api.db, user.user.id);
    const [gone, over] = await told(user.patch(`/v1/rentals/${ended.id}`, guard));
    assert.deepEqual([gone, over.error], [409, 'already_stopped']);
  });

  it('is kept alive up to a day ahead and 60 times a day, and by no limit’s cost', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, HOUR, { max_spend_cents: 900 });
    const keep = (until: unknown) => told(user.post(`/v1/rentals/${rental.id}/keep-alive`, { until }));
    const inHours = (hours: number) => new Date(Date.now() + hours * HOUR).toISOString();
    const [status, refused] = await keep(inHours(1));
    assert.deepEqual([status, refused.error], [409, 'no_idle_guard']);
    await tells('lab');
    await user.patch(`/v1/rentals/${rental.id}`, guard);
    for (const until of [inHours(-1), inHours(24.1), undefined, 'soon']) {
      const [, wrong] = await keep(until);
      assert.equal(wrong.error, 'validation_failed', String(until));
    }
    const { token } = await insertApiKeyOf(api.db, user.user.id, { scopes: ['rentals'], ends: 'own' });
    const other = api.withKey(token);
    const path = `/v1/rentals/${rental.id}/keep-alive`;
    assert.equal((await other.post(path, { until: inHours(1) })).status, 200);
    const until = inHours(23);
    const [, kept] = await keep(until);
    assert.equal(kept.idleGuard?.['keepAliveUntil'], until);
    const [, earlier] = await keep(inHours(1));
    assert.equal(earlier.idleGuard?.['keepAliveUntil'], until);
    const row = await api.db('rentals').where({ id: rental.id }).first();
    assert.deepEqual(
      [row?.auto_stop_at, row?.spend_limit_at, row?.max_spend_cents],
      [rental.auto_stop_at, rental.spend_limit_at, 900],
    );
    const askWithin = await insertMachine(rental.id);
    assert.equal(await askWithin(), 'kept');
    // What is refused and what another's key asks for do not count: three of them do so far, one from within.
    const many = (count: number) => Promise.all(Array.from({ length: count }, () => keep(until)));
    // No user may have all of them under way at once.
    const answers = [...(await many(30)), ...(await many(29))];
    assert.deepEqual(
      answers.map(([code]) => code).toSorted((a, b) => a - b),
      [...Array<number>(57).fill(200), 429, 429],
    );
    assert.equal(await askWithin(), 'too_many');
    assert.equal((await other.post(path, { until })).status, 200);
  });

  it('is kept alive for a day where the asker’s clock is ahead', async () => {
    const rental = await insertRunningRental(api.db, user.user.id, HOUR);
    await tells('lab');
    await user.patch(`/v1/rentals/${rental.id}`, guard);
    const until = new Date(Date.now() + 24 * HOUR + 50_000).toISOString();
    const [status, kept] = await told(user.post(`/v1/rentals/${rental.id}/keep-alive`, { until }));
    assert.equal(status, 200, JSON.stringify(kept));
    const untilMs = Date.parse(String(kept.idleGuard?.['keepAliveUntil']));
    assert.ok(untilMs <= Date.now() + 24 * HOUR && untilMs > Date.now() + 23.9 * HOUR);
  });
});
