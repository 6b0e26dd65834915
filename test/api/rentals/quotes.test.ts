import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { shadeformSoftware } from '../../../adapters/providers/shadeform/shadeform-software.js';
import { vastSoftware } from '../../../adapters/providers/vast/vast-software.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertKey, insertListing, insertProvider } from '../../support/money/factories.js';
import { credit, insertRunning } from '../../support/money/money.js';

/** A quote as a test reads it. */
interface Quote {
  readonly quoteId: string;
  readonly expiresAt: string;
  readonly listing: Listing;
  readonly pricePerHourCents: number;
  readonly holdCents: number;
  readonly worstCaseCents: number | null;
  readonly walletAfterCents: number;
  readonly missingCents: number;
  readonly runwaySecondsAfter: number;
  readonly expectedReadySeconds: { readonly p50: number; readonly p90: number } | null;
  readonly alternatives: readonly Listing[];
}

interface Listing {
  readonly id: string;
  readonly providerCode: string;
  readonly regionCode: string;
  readonly pricePerHourCents: number;
  readonly reliability: { readonly samples: number } | null;
}

describe('quotes', () => {
  let api: TestApi;
  let user: SignedIn;
  const body = { familyId: 'rtx-4090', gpuCount: 1 };

  before(async () => {
    // Temporal is away: a quote does not need it.
    api = await startApi();
    // An API reads these rows once in half a minute.
    await insertProvider(api.db, 'steady');
    await api.db('reliability').insert({
      ...{
        provider_code: 'steady',
        family: 'rtx-4090',
        created: 30,
        not_created: 0,
        losses: 0,
        machine_ms: 0,
      },
      ...{ ready_p50_seconds: 40, ready_p90_seconds: 90, ssh_p50_seconds: 39, ssh_p90_seconds: 89 },
    });
  });
  beforeEach(async () => {
    await api.db('quotes').delete();
    await api.db('listings').delete();
    await insertProvider(api.db);
    user = await api.signIn();
  });
  after(() => api.stop());

  async function quote(asked: object = {}, as = user): Promise<Quote> {
    const answer = await as.post('/v1/quotes', { ...body, ...asked });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as unknown as Quote;
  }

  describe('POST /v1/quotes', () => {
    it('tells what the cheapest machine costs, holds and leaves, and what else there is', async () => {
      const cheapest = await insertListing(api.db, { price_per_hour_cents: 50 });
      const next = await insertListing(api.db, { price_per_hour_cents: 60, region_code: 'SE' });
      await credit(api.db, user.user.id, 1_000);
      const before = Date.now();
      const { quoteId, expiresAt, listing, alternatives, ...told } = await quote({ autoStopAfterHours: 3 });
      assert.match(quoteId, /^quo_/);
      const leftMs = Date.parse(expiresAt) - before;
      assert.ok(leftMs > 55_000 && leftMs < 65_000, `${leftMs} ms`);
      assert.equal(listing.id, cheapest.id);
      assert.deepEqual(told, {
        pricePerHourCents: 50,
        holdCents: 50,
        ...{ maxSpendCents: null, capLeftCents: null, budgetLeftCents: null },
        worstCaseCents: 150,
        walletAfterCents: 950,
        missingCents: 0,
        runwaySecondsAfter: 72_000,
        expectedReadySeconds: null,
        ownSoftware: null,
        telemetrySource: null,
        idleGuard: null,
      });
      assert.deepEqual(
        alternatives.map(({ id }) => id),
        [next.id],
      );
    });

    it('passes over an upstream that can’t take all SSH keys of its asker, and says so where no other has one', async () => {
      const long = await insertKey(api.db, user.user.id);
      await api
        .db('ssh_keys')
        .where({ id: long.id })
        .update({ public_key: `ssh-rsa ${'A'.repeat(2_500)}` });
      await insertProvider(api.db, 'narrow');
      const software = JSON.stringify(vastSoftware) as never;
      await api.db('providers').where({ code: 'narrow' }).update({ software });
      await insertListing(api.db, { provider_code: 'narrow', price_per_hour_cents: 40 });
      const providerOf = async (asked: object) => (await quote(asked)).listing.providerCode;
      const script = { startScript: 'true' };
      const refused = await user.post('/v1/quotes', { ...body, ...script });
      assert.deepEqual([refused.status, refused.body.error], [400, 'software_unsupported']);
      assert.deepEqual(
        refused.body.details.misfits
          .filter(({ providerCode }) => providerCode === 'narrow')
          .map(({ field, limit }) => [field, limit]),
        [['sshKeyIds', 2_200]],
      );
      assert.equal(await providerOf({}), 'narrow', 'they fit without a script');
      assert.equal(await providerOf({ ...script, sshKeyIds: [] }), 'narrow');
      await api
        .db('providers')
        .where({ code: 'lab' })
        .update({ software: JSON.stringify(shadeformSoftware) as never });
      await insertListing(api.db);
      assert.equal(await providerOf(script), 'lab');
      await api
        .db('ssh_keys')
        .where({ id: long.id })
        .update({ public_key: `ssh-rsa ${'A'.repeat(3_700)}` });
      assert.equal(await providerOf({}), 'lab');
    });

    it('buys nothing, holds nothing, and asks nobody to wait who holds the wallet', async () => {
      await insertListing(api.db);
      await credit(api.db, user.user.id, 1_000);
      const lock = await api.db.transaction();
      try {
        await lock.raw('select id from wallets where user_id = ? for update', [user.user.id]);
        await quote();
      } finally {
        await lock.rollback();
      }
      const wallet = await api.db('wallets').where({ user_id: user.user.id }).first();
      assert.deepEqual([wallet?.available_cents, wallet?.reserved_cents], [1_000, 0]);
      assert.equal((await api.db('rental_requests').where({ user_id: user.user.id })).length, 0);
    });

    it('says what is missing when the hour can’t be paid', async () => {
      await insertListing(api.db, { price_per_hour_cents: 50 });
      await credit(api.db, user.user.id, 20);
      const { walletAfterCents, missingCents } = await quote();
      assert.deepEqual([walletAfterCents, missingCents], [-30, 30]);
    });

    it('counts on what runs already', async () => {
      await insertListing(api.db, { price_per_hour_cents: 50 });
      await credit(api.db, user.user.id, 1_000);
      const wallet = (await api.db('wallets').where({ user_id: user.user.id }).first()) ?? assert.fail();
      await insertRunning(api.db, wallet, { priceCents: 150, ranMs: 0 });
      const { walletAfterCents, runwaySecondsAfter } = await quote();
      assert.deepEqual([walletAfterCents, runwaySecondsAfter], [800, 18_000]);
    });

    it('has no worst case without a limit, and the nearer one of two', async () => {
      await insertListing(api.db, { price_per_hour_cents: 50 });
      assert.equal((await quote()).worstCaseCents, null);
      assert.equal((await quote({ maxSpendCents: 70 })).worstCaseCents, 70);
      assert.equal((await quote({ maxSpendCents: 70, autoStopAfterHours: 1 })).worstCaseCents, 50);
      assert.equal((await quote({ maxSpendCents: 7, autoStopAfterHours: 1 })).worstCaseCents, 7);
    });

    it('tells how reliable such machines are, and the alternatives to them', async () => {
      await insertListing(api.db, { provider_code: 'steady', price_per_hour_cents: 50 });
      await insertListing(api.db, { price_per_hour_cents: 60, region_code: 'SE' });
      const { listing, alternatives } = await quote();
      assert.equal(listing.reliability?.samples, 30);
      assert.deepEqual(
        alternatives.map(({ reliability }) => reliability),
        [null],
      );
      const { status, body: refused } = await user.post('/v1/quotes', { ...body, region: 'JP' });
      assert.equal(status, 400);
      assert.deepEqual(
        (refused.details as unknown as Pick<Quote, 'alternatives'>).alternatives.map(
          ({ reliability }) => reliability?.samples,
        ),
        [30, undefined],
      );
    });

    it('tells how long it takes by our own machines', async () => {
      await insertListing(api.db);
      await api.db('reliability').insert({
        ...{
          provider_code: 'lab',
          family: 'rtx-4090',
          created: 20,
          not_created: 0,
          losses: 0,
          machine_ms: 0,
        },
        ...{ ready_p50_seconds: 40, ready_p90_seconds: 90, ssh_p50_seconds: 39, ssh_p90_seconds: 89 },
      });
      assert.deepEqual((await quote()).expectedReadySeconds, { p50: 40, p90: 90 });
      await api.db('reliability').where({ provider_code: 'lab' }).update({ created: 19 });
      assert.equal((await quote()).expectedReadySeconds, null);
      await api.db('reliability').where({ provider_code: 'lab' }).delete();
    });

    it('leaves out upstreams that can’t start the template', async () => {
      await insertProvider(api.db, 'picky');
      await api
        .db('providers')
        .where({ code: 'picky' })
        .update({ template_ids: ['pytorch'] });
      await insertListing(api.db, { provider_code: 'picky', price_per_hour_cents: 10 });
      await insertListing(api.db, { price_per_hour_cents: 50 });
      assert.equal((await quote()).pricePerHourCents, 50);
      assert.equal((await quote({ templateId: 'pytorch' })).pricePerHourCents, 10);
    });

    it('refuses what can’t be had with what can, and keeps no quote', async () => {
      const other = await insertListing(api.db, { region_code: 'US', price_per_hour_cents: 50 });
      const answer = await user.post('/v1/quotes', { ...body, region: 'eu', maxPricePerHourCents: 49 });
      assert.deepEqual([answer.status, answer.body.error], [400, 'model_unavailable']);
      const { alternatives, ...details } = answer.body.details as unknown as { alternatives: Listing[] };
      assert.deepEqual(details, { familyId: 'rtx-4090', gpuCount: 1, region: 'eu' });
      assert.deepEqual(
        alternatives.map(({ id }) => id),
        [other.id],
      );
      assert.equal((await api.db('quotes').where({ user_id: user.user.id })).length, 0);
    });

    it('refuses what a create refuses, in its words', async () => {
      const other = await api.signIn();
      const key = await insertKey(api.db, other.user.id);
      const wrong: [object, number, string][] = [
        [{}, 400, 'validation_failed'],
        [{ familyId: 'rtx-4090' }, 400, 'invalid_count'],
        [{ ...body, familyId: 'abacus' }, 400, 'unknown_family'],
        [{ ...body, colour: 'red' }, 400, 'validation_failed'],
        [{ ...body, quoteId: newId('quo') }, 400, 'validation_failed'],
        [{ ...body, sshKeyIds: [key.id] }, 404, 'key_not_found'],
      ];
      for (const [asked, status, code] of wrong) {
        const answer = await user.post('/v1/quotes', asked);
        assert.deepEqual([answer.status, answer.body.error], [status, code], JSON.stringify(asked));
      }
      assert.equal((await api.stranger().post('/v1/quotes', body)).status, 401);
    });

    it('refuses a blocked user, and everybody while creates are paused', async () => {
      await insertListing(api.db);
      await api
        .db('users')
        .where({ id: user.user.id })
        .update({ blocked_at: new Date(), blocked_reason: 'x' });
      assert.equal((await user.post('/v1/quotes', body)).body.error, 'blocked');
      const other = await api.signIn();
      await api.db('brakes').insert({ kind: 'creates', reason: 'test', pulled_by: 'test' });
      assert.equal((await other.post('/v1/quotes', body)).body.error, 'temporarily_unavailable');
      await api.db('brakes').delete();
    });
  });

  describe('POST /v1/rentals with a quoteId', () => {
    it('refuses every other field beside it, naming each', async () => {
      const answer = await user.post('/v1/rentals', { ...body, quoteId: newId('quo'), name: 'x' });
      assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
      const fields = answer.body.details.fields.map(({ field }) => field);
      assert.deepEqual(fields, ['familyId', 'gpuCount', 'name']);
      assert.match(answer.body.message, /the quote sets it/);
    });

    it('refuses an id that is no text', async () => {
      for (const quoteId of [7, null, '', 'x'.repeat(65), {}]) {
        const answer = await user.post('/v1/rentals', { quoteId });
        assert.deepEqual([answer.status, answer.body.error], [400, 'validation_failed']);
        assert.deepEqual(
          answer.body.details.fields.map(({ field }) => field),
          ['quoteId'],
        );
      }
    });

    it('names the first missing field of a body without one', async () => {
      const answer = await user.post('/v1/rentals', {});
      assert.equal(answer.body.details.fields[0]?.field, 'familyId');
      assert.match(answer.body.message, /^The request is invalid: familyId is missing: add it/);
    });
  });
});
