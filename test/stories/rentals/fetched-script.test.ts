import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { toldData } from '../../support/story/told-events.js';
import { Renting } from '../../support/story/renting.js';
import { login, newRenterKey, type RenterKey } from '../../lab/provider/living-lab.js';
import { until } from '../../support/until.js';

const secret = 'planted-variable-7c2';
const planted = 'planted-line-7c2';
/** 20 KB, and more than Vast takes at all. */
const startScript = `#!/bin/bash\n${`# ${planted} ${'.'.repeat(80)}\n`.repeat(200)}printf %s "$SECRET" > "$HOME/ran"\n`;

const machines: Partial<Record<Dialect, { familyId: string; gpuCount: number }>> = {
  shadeform: { familyId: 'rtx-4090', gpuCount: 1 },
  lambda: { familyId: 'h100-80gb', gpuCount: 1 },
  vast: { familyId: 'rtx-4090', gpuCount: 1 },
};

for (const [dialect, machine] of Object.entries(machines) as [
  Dialect,
  { familyId: string; gpuCount: number },
][]) {
  describe(`a start script that a machine fetches, at ${dialect}`, () => {
    let service: TestService;
    let renting: Renting;
    let user: SignedIn;
    let key: RenterKey;
    let id: RentalId;
    before(async () => {
      service = await startService({ dialects: [dialect], listener: true, bootMs: 50 });
      renting = new Renting(service);
      await until('the upstream has told what it can do', async () => {
        const [row] = await service.db('providers').whereNotNull('software');
        return row !== undefined && row.catalog_synced_at !== null;
      });
      user = await service.signIn(100_000);
      key = newRenterKey();
      await user.post('/v1/ssh-keys', { name: 'mine', publicKey: key.line });
    });
    after(() => service.stop());

    const scriptOf = async (): Promise<string> => {
      const [pod] = await renting.pods(id);
      return Buffer.from(pod?.base64Script ?? '', 'base64').toString('utf8');
    };
    const ask = async (method: string, path: string, token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${service.listener!.url}${path}`, { method, headers });
      return `${answer.status} ${await answer.text()}`;
    };

    it('runs on it with its variables, and the upstream has neither', async () => {
      id = await renting.open(user, machine, { startScript, env: { SECRET: secret } });
      const { port, username } = await renting.awaitStatus(id, 'running');
      const ran = await until('the script has run', async () => {
        const { stdout } = await login({ port: port!, user: username!, key, command: 'cat ran' });
        return stdout === '' ? undefined : stdout;
      });
      assert.equal(ran, secret);
      const sent = JSON.stringify(await service.gpus.state()) + (await scriptOf());
      for (const text of [secret, planted, startScript]) {
        assert.ok(
          !sent.includes(text) && !sent.includes(Buffer.from(text).toString('base64').slice(0, -4)),
          text,
        );
      }
    });

    it('was fetched once, as its renter is told, and is wiped', async () => {
      const told = await toldData(service.db, 'rental.script_fetched', id);
      assert.deepEqual(told, [{ fetch: 1, afterRestart: false }]);
      const [token, ...others] = await service.db('machine_tokens').where({ purpose: 'bundle' });
      assert.deepEqual(others, []);
      assert.deepEqual([token?.fetches, token?.sealed, token?.acknowledged_at !== null], [1, null, true]);
    });

    it('is given to nobody who finds its token afterwards', async () => {
      const token = /Bearer ([0-9a-f]{64})/.exec(await scriptOf())?.[1] ?? '';
      assert.notEqual(token, '');
      const refused = await ask('GET', '/v1/machine/bundle', '0'.repeat(64));
      assert.match(refused, /^401 /);
      assert.equal(await ask('GET', '/v1/machine/bundle', token), refused);
      assert.equal(await ask('POST', '/v1/machine/bundle/acknowledged', token), refused);
      assert.equal(
        await ask('POST', '/v1/machine/reports', token),
        await ask('POST', '/v1/machine/reports', '0'.repeat(64)),
      );
      assert.ok(service.listener!.logged.length > 0);
      assert.ok(!service.listener!.logged.join('').includes(token), 'no log has it');
      await renting.stop(user, id);
      await renting.awaitClosed(id);
    });
  });
}
