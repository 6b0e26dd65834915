import assert from 'node:assert/strict';
import { machineTokenOf } from '../../../adapters/machine-bundles.js';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import { MINUTE } from '../../../domain/durations.js';
import type { IdleGuardRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { Quote } from '../../../api/rentals/quotes.js';
import type { Telemetry } from '../../../api/rentals/describe-telemetry.js';
import { login, newRenterKey } from '../../lab/provider/living-lab.js';
import { installationKey, type SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

const families = { shadeform: 'rtx-4090', lambda: 'h100-80gb' } as const;

for (const dialect of ['shadeform', 'lambda'] as const satisfies Dialect[]) {
  describe(`a machine that reports its use, at ${dialect}`, () => {
    const machine = { familyId: families[dialect], gpuCount: 1 };
    let service: TestService;
    let renting: Renting;
    let user: SignedIn;
    let rental: RentalRow;
    const key = newRenterKey();
    before(async () => {
      service = await startService({ dialects: [dialect], listener: true, bootMs: 50 });
      renting = new Renting(service);
      await until('the upstream has told what it sells', async () => {
        const [row] = await service.db('providers').whereNotNull('telemetry');
        return row !== undefined && row.catalog_synced_at !== null;
      });
      user = await service.signIn(100_000);
      await user.post('/v1/ssh-keys', { name: 'mine', publicKey: key.line });
    });
    after(() => service.stop());

    const guardNow = () => service.db('idle_guards').where({ rental_no: rental.no }).first();
    const newest = () =>
      service
        .db('machine_uses as u')
        .join('allocation_attempts as a', 'a.id', 'u.attempt_id')
        .where('a.rental_id', rental.id)
        .first<{ uptime: number; attempt_id: number } | undefined>('u.uptime', 'u.attempt_id');

    /** Reports as the machine does, which is this one here and never idle. */
    async function report(): Promise<{ status: number; text: string; uptime: number }> {
      const last = await newest();
      const uptime = (last?.uptime ?? 0) + 1;
      await service
        .db('machine_uses')
        .where({ attempt_id: last?.attempt_id ?? 0 })
        .update({ received_at: new Date(Date.now() - 7_000) });
      const answer = await fetch(`${service.listener?.url}/v1/machine/use`, {
        method: 'POST',
        headers: { authorization: `Bearer ${machineTokenOf(installationKey, 'use', rental.tag)}` },
        body: `gpu-use 1 ${uptime} 1 20 500 0\n-\n0, 0\n`,
      });
      return { status: answer.status, text: await answer.text(), uptime };
    }

    /**
     * Reports until its guard did what it should. The machine's own report of each minute may tell of the work of this
     * computer, and takes the guard back: only then it is prepared and reported anew, since a machine's calls are bounded.
     */
    async function reportUntil(
      what: string,
      seen: () => Promise<boolean>,
      prepared: Pick<IdleGuardRow, 'idle_since'> & Partial<IdleGuardRow>,
    ): Promise<void> {
      let ours: number | undefined;
      await until(what, async () => {
        if (await seen()) return true;
        const since = (await guardNow())?.idle_since;
        const isPrepared = prepared.idle_since === null || since?.getTime() === prepared.idle_since.getTime();
        if (isPrepared && (await newest())?.uptime === ours) return false;
        await service.db('idle_guards').where({ rental_no: rental.no }).update(prepared);
        ours = (await report()).uptime;
        return false;
      });
    }

    it('is quoted as such, and runs no reporter where nobody asked', async () => {
      const sourceOf = async (more: object) => {
        const { status, body } = await user.post('/v1/quotes', { ...machine, ...more });
        assert.equal(status, 200, JSON.stringify(body));
        return (body as unknown as Quote).telemetrySource;
      };
      assert.equal(await sourceOf({}), null);
      assert.equal(await sourceOf({ stopWhenIdleMinutes: 15 }), 'reporter');
      const { id } = await renting.run(user, machine);
      const [pod] = await renting.pods(id);
      const script = Buffer.from(pod?.base64Script ?? '', 'base64').toString('utf8');
      assert.doesNotMatch(script, /machine\/use|gpu-use/);
      await renting.stop(user, id);
    });

    it('tells it by itself, a minute after it started', async () => {
      rental = await renting.run(user, machine, { stopWhenIdleMinutes: 15 });
      await until('the machine has reported', async () => (await newest()) !== undefined, 100_000);
      const told = await until('it is shown', async () => {
        const { body } = await user.get(`/v1/rentals/${rental.id}/telemetry`);
        const { source, points } = body as unknown as Telemetry;
        return source !== null && { source, points };
      });
      assert.equal(told.source, 'reporter');
      const point = told.points.find(({ gpuPercent }) => gpuPercent !== null);
      assert.deepEqual([point?.gpuPercent, point?.busiestGpuPercent], [0, 0]);
      assert.ok(point?.cpuPercent !== null && point?.memoryPercent !== null);
    });

    it('is warned in its own answers when it is idle', async () => {
      await reportUntil('it is idle', async () => (await guardNow())?.idle_since !== null, {
        idle_since: null,
      });
      let warning: string | undefined;
      const isWarned = async () => {
        if ((await guardNow())?.stops_at === null) return false;
        const { status, text } = await report();
        if (status === 200) warning = text;
        return status === 200;
      };
      await reportUntil('it is warned', isWarned, { idle_since: new Date(Date.now() - 20 * MINUTE) });
      assert.match(warning ?? '', /^This machine is idle and stops at \d\d:\d\d UTC\./);
    });

    const inside = (command: string, tty = false) =>
      login({ port: rental.port ?? 0, user: rental.username ?? '', key, command, tty });

    // The same lines run at each upstream, and its own report takes a minute.
    const once = dialect === 'shadeform' ? it : (): void => undefined;
    once('shows that to whoever is logged in, and who logs in later', async () => {
      const watching = inside('until [ -s gpu-idle ]; do sleep 1; done; cat gpu-idle > seen', true);
      let hasEnded = false;
      const noteEnd = () => void (hasEnded = true);
      void watching.then(noteEnd, noteEnd);
      // This machine is not idle, so its own report takes the warning back.
      await until(
        'its own report was answered',
        async () => {
          await service
            .db('idle_guards')
            .where({ rental_no: rental.no })
            .update({ stops_at: new Date(Date.now() + 10 * MINUTE) });
          return hasEnded;
        },
        100_000,
      );
      const words = /This machine is idle and stops at .* UTC\..*\s+Or here: \S+\/gpu-keep-alive 2h/;
      assert.match((await watching).stdout, words);
      assert.match((await inside('cat seen')).stdout, words);
    });

    it('is kept alive by a command on it, and its renter reads of it', async () => {
      const refused = await inside('./gpu-keep-alive soon');
      assert.deepEqual(
        [refused.code, refused.stdout],
        [1, 'Say how long, such as 2h or 90m; 24h at most.\n'],
      );
      const kept = await inside('./gpu-keep-alive 3h');
      assert.match(kept.stdout, /^This machine does not stop for being idle before \S+ \d\d:\d\d UTC\./);
      const guard = await guardNow();
      assert.equal(guard?.stops_at, null);
      assert.ok(Math.abs(Number(guard.keep_alive_until) - Date.now() - 180 * MINUTE) < MINUTE);
      await until('it is told', async () => {
        const { body } = await user.get('/v1/events?types=rental.kept_alive');
        return JSON.stringify(body).includes('rental.kept_alive');
      });
      await service.db('idle_guards').where({ rental_no: rental.no }).update({ keep_alive_until: null });
    });

    it('is stopped when it stays idle', async () => {
      const overdue = {
        idle_since: new Date(Date.now() - 30 * MINUTE),
        stops_at: new Date(Date.now() - 1_000),
      };
      const isStopped = async () => (await renting.row(rental.id)).closed_at !== null;
      await reportUntil('it is stopped', isStopped, overdue);
      const over = await renting.row(rental.id);
      assert.deepEqual([over.status, over.stop_reason], ['stopped', 'idle']);
      assert.equal((await report()).status, 401);
      await renting.assertAddsUp();
    });
  });
}
