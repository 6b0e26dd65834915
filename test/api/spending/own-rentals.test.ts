import assert from 'node:assert/strict';
import type { Database } from '../../../adapters/postgres/database.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import type { ApiKeyId } from '../../../domain/ids.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import { sequenceEvents } from '../../../adapters/postgres/events/sequence.js';
import { tick } from '../../../money/metering/tick.js';
import { startApi, type ApiClient, type SignedIn, type TestApi } from '../../support/http/api.js';
import { openStream } from '../../support/http/event-stream.js';
import { credit } from '../../support/money/money.js';
import { until } from '../../support/until.js';
import {
  insertApiKeyOf,
  insertListing,
  insertProvider,
  insertRunningRental,
} from '../../support/money/factories.js';

describe('a key with a cap', () => {
  let api: TestApi;
  let owner: SignedIn;
  let key: ApiClient;
  let own: RentalRow;
  let others: readonly RentalRow[];

  before(async () => {
    api = await startApi();
    await insertListing(api.db, { provider_code: await insertProvider(api.db) });
  });
  beforeEach(async () => {
    owner = await api.signIn();
    await credit(api.db, owner.user.id, 100_000);
    const capped = await insertKey(500);
    const uncapped = await insertKey(null);
    key = api.withKey(capped.token);
    own = await rent(capped.id, 300);
    others = [await rent(uncapped.id, 300), await rent(null, null)];
    await tick(api.db, { shard: 0, shards: 1 });
    await sequenceEvents(api.db);
  });
  after(() => api.stop());

  async function insertKey(
    spendCapCents: number | null,
    scopes: readonly ApiKeyScope[] = ['read', 'rentals', 'billing'],
  ): Promise<{ id: ApiKeyId; token: string }> {
    const { row, token } = await insertApiKeyOf(api.db, owner.user.id, { scopes, spendCapCents });
    return { id: row.id, token };
  }

  /** A machine that has run for an hour, opened by a key or, for null, in a session. */
  async function rent(keyId: ApiKeyId | null, limit: number | null): Promise<RentalRow> {
    return api.db.transaction(async (trx) => {
      if (keyId !== null)
        await trx('api_keys')
          .where({ id: keyId })
          .increment('reserved_cents', limit ?? 0);
      const rental = await insertRunningRental(trx as Database, owner.user.id, 3_600_000, {
        ...{ api_key_id: keyId, max_spend_cents: limit },
      });
      const about = { userId: owner.user.id, entityId: rental.id };
      const data = { reason: 'user', stoppedAt: new Date().toISOString() } as const;
      await recordEvent(trx, { ...about, type: 'rental.stopping', data });
      return rental;
    });
  }

  it('lists and shows its own rentals alone', async () => {
    const { rentals } = (await key.get('/v1/rentals')).body;
    assert.deepEqual(
      rentals.map(({ id }) => id),
      [own.id],
    );
    for (const path of ['', '/meter', '/charges', '/telemetry']) {
      assert.equal((await key.get(`/v1/rentals/${own.id}${path}`)).status, 200, path);
      for (const { id } of others) {
        const { status, body } = await key.get(`/v1/rentals/${id}${path}`);
        assert.deepEqual([status, body.error], [404, 'rental_not_found'], path);
      }
    }
    assert.equal((await owner.get('/v1/rentals')).body.rentals.length, 3);
  });

  it('keeps its own rentals alone alive', async () => {
    const until = new Date(Date.now() + 60_000).toISOString();
    const kept = await key.post(`/v1/rentals/${own.id}/keep-alive`, { until });
    assert.deepEqual([kept.status, kept.body.error], [409, 'no_idle_guard']);
    for (const { id } of others) {
      assert.equal((await key.post(`/v1/rentals/${id}/keep-alive`, { until })).status, 404);
    }
  });

  it('changes and stops its own rentals alone', async () => {
    for (const { id, no } of others) {
      assert.equal((await key.patch(`/v1/rentals/${id}`, { name: 'mine' })).status, 404);
      assert.equal((await key.post(`/v1/rentals/${id}/stop`)).status, 404);
      assert.equal(await api.db('stop_requests').where({ rental_no: no }).first('rental_no'), undefined);
    }
    assert.equal((await key.patch(`/v1/rentals/${own.id}`, { name: 'mine' })).status, 200);
    assert.equal((await key.post(`/v1/rentals/${own.id}/stop`)).status, 200);
  });

  it('reads the events of its own rentals alone, and gets on', async () => {
    const { events, lastSeq } = (await key.get('/v1/events')).body as unknown as {
      events: { entityId: string }[];
      lastSeq: number;
    };
    assert.deepEqual(
      events.map(({ entityId }) => entityId),
      [own.id],
    );
    const all = (await owner.get('/v1/events')).body as unknown as { events: unknown[]; lastSeq: number };
    assert.equal(lastSeq, all.lastSeq);
    assert.ok(all.events.length > events.length);
  });

  it('hears of its own rentals alone on a stream: events and meters', async () => {
    const stream = await openStream({ url: api.url }, '?after=0', {
      Authorization: `Bearer ${key.key ?? ''}`,
    });
    try {
      const { lastSeq } = (await owner.get('/v1/events')).body as unknown as { lastSeq: number };
      await until('all is told', () => (stream.lastId ?? 0) >= lastSeq);
      await stream.await('meter');
      const told = stream.heard.filter(({ name }) => name.startsWith('rental.') || name === 'meter');
      const about = told.map(({ data }) => {
        const { entityId, rentalId } = data as { entityId?: string; rentalId?: string };
        return entityId ?? rentalId;
      });
      assert.deepEqual([...new Set(about)], [own.id]);
    } finally {
      stream.cut();
    }
  });

  it('reads the ledger of one of its rentals, and explains its entries; no other books', async () => {
    const { entries } = (await key.get(`/v1/billing/ledger?rentalId=${own.id}`)).body;
    assert.deepEqual(
      entries.map(({ amountCents }) => amountCents),
      [-50],
    );
    assert.equal((await key.get(`/v1/billing/ledger/${entries[0]!.id}/explain`)).status, 200);
    for (const { id } of others) {
      assert.equal((await key.get(`/v1/billing/ledger?rentalId=${id}`)).status, 404);
    }
    const all = (await owner.get('/v1/billing/ledger')).body.entries;
    for (const { id } of all.filter(({ rentalId }) => rentalId !== own.id)) {
      assert.equal((await key.get(`/v1/billing/ledger/${id}/explain`)).status, 404);
    }
    for (const path of ['ledger', 'ledger.csv', 'statement?from=2026-01-01&to=2027-01-01']) {
      const { status, body } = await key.get(`/v1/billing/${path}`);
      assert.deepEqual([status, body.error], [403, 'session_required'], path);
    }
    assert.equal((await key.get('/v1/billing/balance')).status, 200);
  });

  it('is quoted what is left of it, and its quote’s rental gets no more than that', async () => {
    const quoteOf = async (as: ApiClient, more: object) => {
      const { status, body } = await as.post('/v1/quotes', { familyId: 'rtx-4090', gpuCount: 1, ...more });
      assert.equal(status, 200, JSON.stringify(body));
      const { capLeftCents, budgetLeftCents, maxSpendCents, worstCaseCents, quoteId } =
        body as unknown as Record<string, number | string | null>;
      return { quoteId, sums: [capLeftCents, budgetLeftCents, maxSpendCents, worstCaseCents] };
    };
    const { quoteId, sums } = await quoteOf(key, {});
    assert.deepEqual(sums, [200, null, 200, 200]);
    assert.equal(
      (
        await api
          .db('quotes')
          .where({ id: quoteId as never })
          .first()
      )?.request.maxSpendCents,
      200,
    );
    assert.deepEqual((await quoteOf(key, { maxSpendCents: 900 })).sums, [200, null, 900, 900]);
    assert.deepEqual((await quoteOf(owner, {})).sums, [null, null, null, null]);
  });
});
