import assert from 'node:assert/strict';
import { newId } from '../../../../adapters/ids.js';
import { readStarts } from '../../../../adapters/postgres/catalog/starts.js';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import type {
  AllocationAttemptRow,
  ListingRow,
  RentalRow,
} from '../../../../adapters/postgres/rows/tables.js';
import { insertRentalRequest } from '../../../../adapters/postgres/requests/opening-requests.js';
import type { UserId } from '../../../../domain/ids.js';
import type { SoftwareOutline } from '../../../../domain/rentals/software.js';
import { databaseRoles } from '../../../../migrations/roles.js';
import { insertListing, insertProvider, insertRental, insertUser } from '../../../support/money/factories.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const HOUR = 3_600_000;

describe('what came of the machines that were lately asked for', () => {
  let database: MoneyDatabase;
  const readers = new Map<string, Database>();
  let userId: UserId;
  let listing: ListingRow;

  before(async () => {
    database = await openMoneyDatabase();
    for (const role of ['api', 'worker', 'ops'] as const)
      readers.set(role, openDatabase(database.url, 1, 'test', databaseRoles[role]));
    userId = (await insertUser(database.db)).id;
    await insertProvider(database.db);
  });
  beforeEach(async () => {
    listing = await insertListing(database.db);
  });
  after(async () => {
    for (const db of readers.values()) await db.destroy();
    await database.close();
  });

  interface Start {
    readonly attempt?: Partial<AllocationAttemptRow>;
    /** Absent: the attempt has no rental. */
    readonly rental?: Partial<RentalRow>;
    readonly hasOwnSoftware?: boolean;
  }

  async function insert({ attempt = {}, rental, hasOwnSoftware = false }: Start): Promise<void> {
    const id = newId('rent');
    const tag = `test-${id}-1`;
    const software = { image: 'example/broken:1' } as unknown as SoftwareOutline;
    await insertRentalRequest(
      database.db,
      id,
      {
        ...{
          userId,
          familyId: 'rtx-4090',
          gpuCount: 1,
          templateId: 'ubuntu-24-04',
          region: null,
          sshKeyIds: [],
        },
        ...{ name: null, autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null },
        ...(hasOwnSoftware && { software }),
      },
      new Date('2099-01-01T00:00:00.000Z'),
      null,
    );
    await database.db('allocation_attempts').insert({
      ...{ rental_id: id, attempt: 1, tag, price_per_hour_cents: 50, provider_code: 'lab' },
      ...{ listing_id: listing.id, offer_id: listing.offer_id, ...attempt },
    });
    if (rental) await insertRental(database.db, userId, { id, tag, pod_id: `pod-${id}`, ...rental });
  }

  /** Each role reads the same. */
  async function read() {
    const told = [];
    for (const db of readers.values()) told.push((await readStarts(db)).recent.get(listing.id));
    assert.deepEqual(told, [told[0], told[0], told[0]]);
    return told[0];
  }

  const now = () => new Date();
  const refused = { state: 'failed', failed_by: 'upstream' } as const;
  const neverRan = { status: 'failed', error: 'It did not answer.', running_at: null } as const;

  it('counts a machine that answered, one that was not delivered, and one that never answered', async () => {
    assert.equal(await read(), undefined);
    await insert({ attempt: { state: 'adopted', answered_at: now() }, rental: {} });
    assert.deepEqual(await read(), { succeeded: 1, asked: 1 });
    await insert({ attempt: refused });
    assert.deepEqual(await read(), { succeeded: 1, asked: 2 });
    await insert({ attempt: { state: 'gone' }, rental: { ...neverRan, settled_at: now(), ended_at: now() } });
    assert.deepEqual(await read(), { succeeded: 1, asked: 3 });
  });

  it('counts nothing that says nothing of the machine', async () => {
    await insert({ attempt: { state: 'failed', failed_by: 'us' } });
    await insert({ attempt: { state: 'adopted' }, rental: { status: 'provisioning' } });
    await insert({
      attempt: { state: 'gone' },
      rental: { status: 'stopped', running_at: null, settled_at: now(), ended_at: now() },
    });
    await insert({ attempt: { ...refused, created_at: new Date(Date.now() - 24 * HOUR) } });
    assert.equal(await read(), undefined);
  });

  it('blames no offer for what a renter’s own software did', async () => {
    await insert({ attempt: refused, hasOwnSoftware: true });
    await insert({
      attempt: { state: 'gone' },
      rental: { ...neverRan, settled_at: now(), ended_at: now() },
      hasOwnSoftware: true,
    });
    assert.equal(await read(), undefined);
    await insert({ attempt: { state: 'adopted', answered_at: now() }, rental: {}, hasOwnSoftware: true });
    assert.deepEqual(await read(), { succeeded: 1, asked: 1 });
  });
});
