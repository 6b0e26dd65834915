import assert from 'node:assert/strict';
import { tick } from '../../../money/metering/tick.js';
import type { RentalId } from '../../../domain/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { credit, getRental, getWallet, insertRunning } from '../../support/money/money.js';
import { beginEarlier } from '../../support/money/begin-earlier.js';

const whole = { shard: 0, shards: 1 };

describe('what a rental was charged', () => {
  let api: TestApi;
  let user: SignedIn;
  let first: RentalId;
  let second: RentalId;

  before(async () => {
    api = await startApi();
    user = await api.signIn();
    await credit(api.db, user.user.id, 10_000);
    const wallet = await getWallet(api.db, user.user.id);
    first = await insertRunning(api.db, wallet, { priceCents: 100, ranMs: 3_600_000 });
    second = await insertRunning(api.db, wallet, { priceCents: 300, ranMs: 1_800_000 });
    await tick(api.db, whole);
    await beginEarlier(api.db, [first], 3_600);
    await tick(api.db, whole);
  });
  after(() => api.stop());

  it('is summed by hour and by day, and agrees with its total', async () => {
    for (const interval of ['hour', 'day']) {
      const { status, body } = await user.get(`/v1/rentals/${first}/charges?interval=${interval}`);
      assert.equal(status, 200);
      const { charges, totalChargedCents } = body as unknown as {
        charges: { from: string; chargedCents: number; refundedCents: number; entries: number }[];
        totalChargedCents: number;
      };
      assert.equal(totalChargedCents, 200);
      assert.equal(
        charges.reduce((sum, bucket) => sum + bucket.chargedCents, 0),
        200,
      );
      assert.equal(
        charges.reduce((sum, bucket) => sum + bucket.entries, 0),
        2,
      );
      assert.match(charges[0]?.from ?? '', interval === 'hour' ? /:00:00\.000Z$/ : /T00:00:00\.000Z$/);
    }
  });

  it('refuses another interval, another user and a rental that is not there', async () => {
    const wrong = await user.get(`/v1/rentals/${first}/charges?interval=week`);
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'validation_failed']);
    const other = await api.signIn();
    for (const path of [`/v1/rentals/${first}/charges`, `/v1/billing/ledger?rentalId=${first}`]) {
      const answer = await other.get(path);
      assert.deepEqual([answer.status, answer.body.error], [404, 'rental_not_found']);
    }
  });

  it('is filtered out of the ledger by the rental, a page at a time', async () => {
    const seen: (string | undefined)[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await user.get(`/v1/billing/ledger?rentalId=${first}&pageSize=1${more}`);
      assert.equal(page.status, 200);
      const body = page.body as unknown as {
        entries: { rentalId?: string; amountCents: number }[];
        nextCursor: string | null;
      };
      seen.push(...body.entries.map(({ rentalId, amountCents }) => `${rentalId ?? ''} ${amountCents}`));
      cursor = body.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(seen, [`${first} -100`, `${first} -100`]);
    assert.equal((await getRental(api.db, second)).charged_cents, 150);
  });
});
