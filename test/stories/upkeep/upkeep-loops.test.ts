import assert from 'node:assert/strict';
import { upkeepDuties, type UpkeepDuty } from '../../../domain/operations/upkeep.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { ageLoops } from '../../support/story/ageing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getWallet } from '../../support/money/money.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

describe('the upkeep as it runs in the service', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ upkeep: true });
  });
  after(() => service.stop());

  it('is five long-lived workflows, and no run comes of a round', async () => {
    const ids: string[] = [];
    const rounds = until('each has made a round', async () => {
      for (const duty of upkeepDuties) {
        const { raw } = await service.temporal.workflow.getHandle(`upkeep:${duty}`).describe();
        if ((raw.pendingActivities?.[0]?.heartbeatDetails?.payloads?.length ?? 0) === 0) return false;
      }
      return true;
    });
    await rounds;
    const watermark = async () => Number((await service.db('watermark').first())?.value);
    await until('housekeeping has raised the watermark', async () => (await watermark()) > 0);
    await until('they are listed', async () => {
      ids.length = 0;
      for await (const { workflowId } of service.temporal.workflow.list()) ids.push(workflowId);
      return upkeepDuties.every((duty) => ids.includes(`upkeep:${duty}`));
    });
    const expected = [
      ...upkeepDuties.map((duty) => `upkeep:${duty}`),
      'mailer',
      'sequencer',
      'webhook-waker',
      'meter:0',
      'provider-watch:lab',
    ];
    assert.deepEqual(ids.filter((id) => id !== 'watermark').toSorted(), expected.toSorted());
  });

  it('takes up what was lost: an event whose signal never came, a run that was terminated', async () => {
    const paying = new Paying(service);
    const user = await service.signIn();
    const { topupId, url } = await paying.page(user, 2_500);
    const { db } = service;
    await service.temporal.workflow.getHandle(topupId).terminate('by hand');
    await paying.pay(url);
    await db.raw(`update topups set created_at = created_at - interval '1 minute'`);
    await ageLoops(db, 60_000);
    await until('it is credited', async () => (await getWallet(db, user.user.id)).available_cents === 2_500);
  });

  it('one that was terminated by mistake is started again by another', async () => {
    const idOf = (duty: UpkeepDuty) => `upkeep:${duty}`;
    const handle = service.temporal.workflow.getHandle(idOf('revive'));
    const { runId } = await handle.describe();
    await handle.terminate('by mistake');
    // A new run of the other workflow begins with the round that is due within the minute.
    await service.temporal.workflow.start('upkeep', {
      workflowId: idOf('housekeeping'),
      taskQueue: taskQueues.rentals,
      args: [{ duty: 'housekeeping' }],
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    await until('it runs again', async () => {
      const now = await handle.describe();
      return now.runId !== runId && now.status.name === 'RUNNING';
    });
  });
});
