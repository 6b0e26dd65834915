import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { layDownBundle } from '../../../activities/rentals/machine-bundle.js';
import { newId } from '../../../adapters/ids.js';
import { hashOfMachineToken, openBundle } from '../../../adapters/machine-bundles.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import type { AllocationAttemptRow } from '../../../adapters/postgres/rows/tables.js';
import { runpodSoftware } from '../../../adapters/providers/runpod/runpod-software.js';
import { shadeformSoftware } from '../../../adapters/providers/shadeform/shadeform-software.js';
import { fetching, noSoftware, type Software } from '../../../domain/rentals/software.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';

const software = { ...noSoftware, startScript: 'echo hello', env: { SECRET: 'planted' } };
const provider = { software: fetching(shadeformSoftware, 100) };
const settings = {
  ...{ machineUrl: 'https://machines.example.com', installationKey: randomBytes(32).toString('base64') },
} as Parameters<typeof layDownBundle>[0]['settings'];

describe('the bundle that is laid down for a machine', () => {
  let database: MoneyDatabase;
  /** With the worker's rights. */
  let db: Database;
  before(async () => {
    database = await openMoneyDatabase();
    db = openDatabase(database.url, 2, 'test-worker', databaseRoles.worker);
  });
  after(async () => {
    await db.destroy();
    await database.close();
  });

  const insert = (): Promise<AllocationAttemptRow> =>
    insertAttempt(db, {
      ...{ rentalId: newId('rent'), deployment: 'test', providerCode: 'lab', listingId: newId('lst') },
      ...{ offerId: 'o', pricePerHourCents: 50, endBy: null, deadlineMs: 60_000 },
    });
  const tokenIn = (lines: readonly string[]): string =>
    /Bearer ([0-9a-f]{64})/.exec(lines.join('\n'))?.[1] ?? '';

  it('is what its token opens, and nothing of it lies there otherwise', async () => {
    const attempt = await insert();
    const lines = (await layDownBundle({ db, settings }, provider, attempt, software)) ?? [];
    const [row, ...others] = await db('machine_tokens').where({ attempt_id: attempt.id });
    assert.deepEqual(others, []);
    const token = tokenIn(lines);
    assert.deepEqual([row?.purpose, row?.token_sha256], ['bundle', hashOfMachineToken(token)]);
    const text = openBundle(token, row!.sealed!);
    for (const part of ['echo hello', 'planted'])
      assert.ok(text.includes(Buffer.from(part).toString('base64')));
    assert.ok(!lines.join('\n').includes(Buffer.from('planted').toString('base64')));
  });

  it('is the same when a purchase is repeated, and another one for the next attempt', async () => {
    const attempt = await insert();
    const first = await layDownBundle({ db, settings }, provider, attempt, software);
    const [before] = await db('machine_tokens').where({ attempt_id: attempt.id });
    assert.deepEqual(await layDownBundle({ db, settings }, provider, attempt, software), first);
    assert.deepEqual(await db('machine_tokens').where({ attempt_id: attempt.id }), [before]);
    const next = await layDownBundle({ db, settings }, provider, await insert(), software);
    assert.notEqual(tokenIn(next ?? []), tokenIn(first ?? []));
  });

  it('stays after its acknowledgement for an image that its upstream may start again, and for nothing else', async () => {
    const image = { ...software, image: 'a/b:1', entrypoint: 'replace' } as const;
    const telling = { software: fetching(runpodSoftware, 100), tellsRestarts: true };
    const isKept = async (at: Parameters<typeof layDownBundle>[1], own: Software) => {
      const attempt = await insert();
      assert.ok(await layDownBundle({ db, settings }, at, attempt, own));
      return (await db('machine_tokens').where({ attempt_id: attempt.id }).first())?.kept;
    };
    assert.equal(await isKept(telling, image), true);
    assert.equal(await isKept(provider, image), false);
    assert.equal(await isKept({ ...telling, software: provider.software }, software), false);
  });

  it('starts the container of an image where the machine runs it in one', async () => {
    const image = { ...software, image: 'a/b:1', entrypoint: 'replace' } as const;
    for (const [at, has] of [
      [provider, true],
      [{ software: fetching(runpodSoftware, 100) }, false],
    ] as const) {
      const attempt = await insert();
      const token = tokenIn((await layDownBundle({ db, settings }, at, attempt, image)) ?? []);
      const row = await db('machine_tokens').where({ attempt_id: attempt.id }).first();
      assert.equal(/^docker create .* --entrypoint sh a\/b:1 /m.test(openBundle(token, row!.sealed!)), has);
    }
  });

  it('is none where the script goes to the upstream', async () => {
    const attempt = await insert();
    const none = [
      layDownBundle({ db, settings }, provider, attempt, undefined),
      layDownBundle({ db, settings }, provider, attempt, { ...software, env: {} }),
      layDownBundle({ db, settings }, { software: shadeformSoftware }, attempt, software),
      layDownBundle({ db, settings: { ...settings, machineUrl: null } }, provider, attempt, software),
    ];
    assert.deepEqual(await Promise.all(none), [undefined, undefined, undefined, undefined]);
    assert.deepEqual(await db('machine_tokens').where({ attempt_id: attempt.id }), []);
  });
});
