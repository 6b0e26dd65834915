import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { GpuRental } from '@gpu-rental/client';
import { finalCents } from '../../../domain/metering/metering.js';
import { hasOpenSsh } from '../../lab/provider/living-lab.js';
import { insertApiKeyOf } from '../../support/money/factories.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';
import { Agent } from './support/agent.js';
import { makeSshDir } from './support/ssh-dir.js';

const run = promisify(execFile);

describe('an agent at the whole service', () => {
  const sshDir = makeSshDir();
  let service: TestService;

  before(async () => {
    service = await startService({ bootMs: 300 });
  });
  after(async () => {
    sshDir.remove();
    await service.stop();
  });

  it('rents, runs a command over SSH and stops, within the cap of its key', async function () {
    // The agent enters by the user's own ssh: without OpenSSH there is none to enter by.
    if (!hasOpenSsh) this.skip();
    const spendCapCents = 1_000;
    const { user } = await service.signIn(50_000);
    const { row, token } = await insertApiKeyOf(service.db, user.id, {
      scopes: ['read', 'rentals', 'billing'],
      spendCapCents,
    });
    const agent = await Agent.start({ apiUrl: service.api.url, apiKey: token, sshDir: sshDir.path });

    const quote = await agent.call('quote', { familyId: 'b200', gpuCount: 8, maxSpendCents: 500 });
    assert.deepEqual([quote['worstCaseCents'], quote['keyLeftCents']], [500, spendCapCents]);
    const { rentalId } = await agent.call('rent', { quoteId: quote['quoteId'] });
    const { command, ready } = await agent.call('ssh_command', { rentalId });
    assert.equal(ready, true);
    const { stdout } = await run('bash', ['-c', `${String(command)} nvidia-smi --list-gpus`]);
    assert.match(stdout, /^GPU 0: NVIDIA B200/);

    const stopped = await agent.call('stop', { rentalId });
    const gpu = new GpuRental({ baseUrl: service.api.url, apiKey: token });
    const rental = await until('it has ended', async () => {
      const shown = await gpu.rentals.get(String(rentalId));
      return shown.status === 'stopped' && shown;
    });
    const opened = await service.db('rentals').where({ api_key_id: row.id }).select('id');
    assert.deepEqual(opened, [{ id: rentalId }]);
    const { rentals } = (await agent.call('list')) as { rentals: Record<string, unknown>[] };
    assert.equal(rentals[0]?.['totalChargedCents'], stopped['finalChargedCents']);
    const elapsedMs = Date.parse(rental.stoppedAt!) - Date.parse(rental.runningAt!);
    const { totalChargedCents } = rental;
    assert.equal(totalChargedCents, finalCents(3_992, elapsedMs, 500));
    assert.ok(totalChargedCents <= 500);
    const { key } = (await agent.call('balance')) as { key: { leftCents: number } };
    assert.equal(key.leftCents, spendCapCents - totalChargedCents);
    await agent.leave();
  });
});
