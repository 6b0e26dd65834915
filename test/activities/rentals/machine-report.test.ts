import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { reporterTargetOf, reportTargetOf } from '../../../activities/rentals/machine-report.js';
import { newId } from '../../../adapters/ids.js';
import { hashOfMachineToken } from '../../../adapters/machine-bundles.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { AllocationAttemptRow } from '../../../adapters/postgres/rows/tables.js';
import { reportedUse } from '../../../domain/machines/telemetry.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

const settings = {
  ...{ machineUrl: 'https://machines.example.com', installationKey: randomBytes(32).toString('base64') },
} as Parameters<typeof reporterTargetOf>[0]['settings'];

describe('what a machine reports by', () => {
  let database: MoneyDatabase;
  /** With the worker's rights. */
  let db: Database;
  let attempt: AllocationAttemptRow;
  before(async () => {
    database = await openMoneyDatabase();
    db = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
  });
  beforeEach(async () => {
    attempt = await insertAttempt(db, {
      ...{ rentalId: newId('rent'), deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
  });
  after(async () => {
    await db.destroy();
    await database.close();
  });
  const tokens = () => db('machine_tokens').where({ attempt_id: attempt.id }).orderBy('purpose');

  it('is a token for each purpose, the same when the purchase is repeated', async () => {
    const proof = await reportTargetOf({ db, settings }, { proof: 'machine' }, attempt);
    const use = await reporterTargetOf({ db, settings }, { telemetry: reportedUse }, attempt);
    assert.equal(use?.url, 'https://machines.example.com/v1/machine/use');
    assert.deepEqual(await reporterTargetOf({ db, settings }, { telemetry: reportedUse }, attempt), use);
    assert.deepEqual(
      (await tokens()).map((row) => [row.purpose, row.token_sha256]),
      [
        ['report', hashOfMachineToken(proof?.token ?? '')],
        ['use', hashOfMachineToken(use.token)],
      ],
    );
  });

  it('is nothing where the upstream tells the use, nobody does, or nobody hears it', async () => {
    const told = { cpu: true, network: false, sessions: false };
    assert.equal(await reporterTargetOf({ db, settings }, { telemetry: told }, attempt), undefined);
    assert.equal(await reporterTargetOf({ db, settings }, {}, attempt), undefined);
    const alone = { ...settings, machineUrl: null };
    assert.equal(
      await reporterTargetOf({ db, settings: alone }, { telemetry: reportedUse }, attempt),
      undefined,
    );
    assert.deepEqual(await tokens(), []);
  });
});
