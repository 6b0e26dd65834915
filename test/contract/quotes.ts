import assert from 'node:assert/strict';
import type { Answer } from '../support/http/answers.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

const machine = { familyId: 'l40s', gpuCount: 1, name: 'quoted', autoStopAfterHours: 2 };
const priceCents = 148;

interface Quote {
  readonly quoteId: string;
  readonly expiresAt: string;
  readonly pricePerHourCents: number;
  readonly alternatives: readonly { readonly family: string; readonly pricePerHourCents: number }[];
}

/** Quotes: what they tell, and what becomes of one that is taken, taken again, or forgotten. */
export function describeQuotes(backend: () => Backend): void {
  describe('a quote', () => {
    let person: Person;
    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 1_000);
    });

    async function quote(as = person): Promise<Quote> {
      const { status, body } = await as.post('/v1/quotes', machine);
      assert.equal(status, 200, JSON.stringify(body));
      return body as unknown as Quote;
    }
    const take = (quoteId: string, as = person): Promise<Answer> => as.post('/v1/rentals', { quoteId });

    it('tells what it costs at most, what it leaves, and what else there is', async () => {
      const { quoteId, expiresAt, alternatives, ...told } = await quote();
      assert.match(quoteId, /^quo_/);
      assert.ok(Date.parse(expiresAt) > Date.now());
      const { listing, expectedReadySeconds, telemetrySource, ...sums } = told as unknown as Record<
        string,
        unknown
      >;
      assert.deepEqual(sums, {
        pricePerHourCents: priceCents,
        holdCents: priceCents,
        ...{ maxSpendCents: null, capLeftCents: null, budgetLeftCents: null },
        worstCaseCents: 2 * priceCents,
        walletAfterCents: 1_000 - priceCents,
        ownSoftware: null,
        idleGuard: null,
        missingCents: 0,
        runwaySecondsAfter: Math.floor((1_000 * 3_600) / priceCents),
      });
      assert.ok(listing !== undefined && expectedReadySeconds !== undefined && telemetrySource !== undefined);
      assert.equal(alternatives.length, 3);
      assert.equal(alternatives[0]?.family, 'l40s');
    });

    it('takes a script that is larger than other bodies may be', async () => {
      const startScript = '#'.repeat(60_000);
      const { status, body } = await person.post('/v1/quotes', { ...machine, startScript });
      assert.deepEqual([status, body.error], [200, undefined]);
    });

    it('is taken once: whoever names it again gets the same rental, also after its time', async () => {
      const made = await quote();
      const first = await take(made.quoteId);
      assert.deepEqual([first.status, first.body.pricePerHourCents], [200, priceCents]);
      assert.equal(first.headers.get('Idempotent-Replayed'), null);
      await backend().expireQuote(made);
      const again = await take(made.quoteId);
      assert.deepEqual([again.status, again.body.id], [200, first.body.id]);
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
      const rental = await person.get(`/v1/rentals/${first.body.id}`);
      assert.equal(rental.body.name, 'quoted');
      await person.post(`/v1/rentals/${first.body.id}/stop`);
    });

    it('is answered with a new one when it comes too late', async () => {
      const made = await quote();
      await backend().expireQuote(made);
      const late = await take(made.quoteId);
      assert.deepEqual([late.status, late.body.error], [409, 'quote_expired']);
      const { quote: fresh } = late.body.details as unknown as { quote: Quote };
      const rental = await take(fresh.quoteId);
      assert.equal(rental.status, 200);
      await person.post(`/v1/rentals/${rental.body.id}/stop`);
    });

    it('stands alone in the body, and is nobody else’s', async () => {
      const { quoteId } = await quote();
      const more = await person.post('/v1/rentals', { quoteId, gpuCount: 1 });
      assert.deepEqual([more.status, more.body.error], [400, 'validation_failed']);
      assert.deepEqual(
        more.body.details.fields.map(({ field }) => field),
        ['gpuCount'],
      );
      const other = await take(quoteId, await signIn(backend()));
      assert.deepEqual([other.status, other.body.error], [404, 'quote_not_found']);
    });

    it('tells somebody without money what is missing', async () => {
      const poor = await signIn(backend());
      const { missingCents } = (await quote(poor)) as unknown as { missingCents: number };
      assert.equal(missingCents, priceCents);
    });

    it('is refused with alternatives where nothing is on offer, as a create is', async () => {
      for (const path of ['/v1/quotes', '/v1/rentals']) {
        const { status, body } = await person.post(path, { ...machine, maxPricePerHourCents: 100 });
        assert.deepEqual([status, body.error], [400, 'model_unavailable']);
        const { alternatives } = body.details as unknown as Quote;
        assert.equal(alternatives[0]?.family, 'l40s', path);
        assert.ok(alternatives.length <= 3 && alternatives[0].pricePerHourCents > 100);
      }
    });
  });
}
