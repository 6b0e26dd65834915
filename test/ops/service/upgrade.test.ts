import assert from 'node:assert/strict';
import { listRunsOf01 } from '../../../adapters/temporal/runs-of-01.js';
import { listRunning } from '../../../adapters/temporal/runs.js';
import { contracts } from '../../../workflows/contracts/index.js';
import { runOps } from '../../support/ops/ops.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { startWorkerProcess } from '../../support/service/worker-process.js';
import { l40s, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

describe('ops upgrade check', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  /** Every unfinished run, however young. */
  const found = (): Promise<string[]> => listRunsOf01(service.temporal.workflow, 20, -60_000);

  async function startUnserved(type: string): Promise<void> {
    const { workflow } = service.temporal;
    await workflow.start(type, { workflowId: `${type}-of-01`, taskQueue: 'of-01' });
    await until(`${type} is listed`, async () => (await found()).includes(`${type} ${type}-of-01`));
  }

  it('goes on with a rental that runs, whose run carries the mark', async () => {
    const user = await service.signIn(10_000);
    const { id } = await new Renting(service).run(user, l40s);
    await until('it is listed', async () =>
      (await listRunning(service.temporal.workflow, [contracts.rental])).has(id),
    );
    await until('its mark is', async () => (await found()).length === 0);
    const { code, out } = await runOps(service, 'upgrade', 'check');
    assert.deepEqual([code, out], [0, 'This release can continue every open run.\n']);
  });

  it('names a run of a retired type, and a worker does not start beside it', async () => {
    await startUnserved('sweep');
    const { code, out } = await runOps(service, 'upgrade', 'check');
    assert.equal(code, 1);
    assert.match(
      out,
      /still open, and this release can't continue them: sweep sweep-of-01\. Let release 0\.2/,
    );
    await assert.rejects(startWorkerProcess(service), /can't continue them: sweep sweep-of-01/);
  });

  it('names a rental without the mark of 0.2', () => startUnserved('rental'));
});
