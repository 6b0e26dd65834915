import assert from 'node:assert/strict';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { placeOrder } from '../../support/ops/operators.js';
import { Paying } from '../../support/story/paying.js';
import { snapshotDatabase, type Snapshot } from '../../support/servers/snapshots.js';
import { endSleepers, isAsleep } from '../../support/servers/sleepers.js';
import { until } from '../../support/until.js';
import { startWorkerProcess, type WorkerProcess } from '../../support/service/worker-process.js';
import {
  restoreWorkflow,
  restoreWorkflowIds,
  type RestoreInput,
  type RestoreOutcome,
} from '../../../workflows/contracts/restore.js';

describe('a worker that is killed while a restored database is reconciled', () => {
  let service: TestService;
  let paying: Paying;
  let snapshot: Snapshot | undefined;
  let payers: SignedIn[];
  let worker: WorkerProcess | undefined;

  before(async () => {
    service = await startService();
    paying = new Paying(service);
    payers = [await service.signIn(), await service.signIn()];
    await raiseWatermark();
    snapshot = await snapshotDatabase(service.databaseUrl);
    await until(
      'the service is back',
      async () => (await service.api.stranger().get('/readyz')).status === 200,
    );
    // A minute and two payments are lost.
    await raiseWatermark();
    for (const payer of payers) {
      await paying.pay((await paying.page(payer, 2_500)).url);
      await paying.awaitAvailable(payer, 2_500);
    }
    await service.stopWorker();
    await snapshot.restore();
  });
  after(async () => {
    try {
      await worker?.kill();
      await service.stop();
    } finally {
      await snapshot?.drop();
    }
  });

  const raiseWatermark = (): Promise<unknown> => runUpkeepRound(service, 'housekeeping');

  const start = (input: RestoreInput) =>
    service.temporal.workflow.start<(input: RestoreInput) => Promise<RestoreOutcome>>(restoreWorkflow.type, {
      ...{ workflowId: restoreWorkflowIds.reconcile, taskQueue: taskQueues.rentals, args: [input] },
    });

  const entries = (): Promise<unknown[]> => service.db('ledger_entries').select('seq');

  it('between two payments, and again while it lets the service go on: each is credited once', async () => {
    await service.db.raw(`create function wait_long() returns trigger language plpgsql as
      $$ begin perform pg_sleep(60); return null; end $$`);
    await service.db.raw(`create function wait_after_one() returns trigger language plpgsql as
      $$ begin
           if exists (select 1 from ledger_entries where wallet_id <> new.wallet_id) then perform pg_sleep(60); end if;
           return new;
         end $$`);
    await service.db.raw(`create trigger wait_after_one before insert on ledger_entries
      for each row execute function wait_after_one()`);
    worker = await startWorkerProcess(service);
    const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
    const operationId = await placeOrder(service.db, action);
    const handle = await start({ reconcile: { operationId, withoutSilentUpstreams: false } });
    await until('the second payment is being credited', () => isAsleep(service.db));
    await worker.kill();
    await endSleepers(service.db);
    await service.db.raw('drop trigger wait_after_one on ledger_entries');
    assert.equal((await entries()).length, 1);

    await service.db.raw(`create constraint trigger wait_at_commit after insert on operator_actions
      deferrable initially deferred for each row execute function wait_long()`);
    worker = await startWorkerProcess(service);
    await until('it is let go on', () => isAsleep(service.db));
    await worker.kill();
    await endSleepers(service.db);
    await service.db.raw('drop trigger wait_at_commit on operator_actions');
    assert.deepEqual(
      (await service.db('brakes')).map(({ kind }) => kind),
      ['restored'],
    );

    await service.startWorker();
    const { outcome, reconciled } = await handle.result();
    assert.equal(outcome, 'reconciled');
    assert.equal(reconciled?.credited.length, 2);
    assert.deepEqual(await service.db('brakes'), []);
    assert.equal((await service.db('operator_actions').where({ id: operationId })).length, 1);
    for (const payer of payers) {
      assert.deepEqual(await paying.entries(payer), [['processor_topup', 2_500]]);
    }
    assert.deepEqual(await verifyLedger(service.db), []);
    // A repeated event of the processor changes nothing more.
    await paying.awaitHandled();
    assert.equal((await entries()).length, 2);
  });
});
