import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import type { LabRestart } from '../../../lab/provider/state.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, Renting, rtx4090 } from '../../support/story/renting.js';
import { toldData } from '../../support/story/told-events.js';
import { until } from '../../support/until.js';

const secret = 'planted-secret-e51';
const startScript = '#!/bin/sh\nwhile sleep 0.1; do :; done\n';
const replaced = { image: 'lab/curl-only:1', entrypoint: 'replace', startScript, env: { SECRET: secret } };

describe('a script in place of an entrypoint', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  let id: RentalId;
  let token: string;
  before(async () => {
    service = await startService({
      ...{ dialects: ['runpod'], listener: true, bootMs: 50, ownSoftwareGraceMs: 500 },
    });
    renting = new Renting(service);
    await until('the upstream has told what it can do', async () => {
      const [row] = await service.db('providers').whereNotNull('software');
      return row !== undefined && row.catalog_synced_at !== null;
    });
    user = await service.signIn(100_000);
  });
  after(() => service.stop());

  const fetches = () => toldData(service.db, 'rental.script_fetched', id);
  const untilAcknowledged = (restarts: number) =>
    until(`its script was fetched after restart ${restarts}`, async () => {
      const [row] = await service.db('machine_tokens').where({ purpose: 'bundle' });
      return row?.reopened === restarts && row.acknowledged_at !== null;
    });
  const askAgain = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${service.listener!.url}/v1/machine/bundle`, { headers })).status;
  };

  it('is fetched with its variables, which the upstream has not', async () => {
    id = await renting.open(user, rtx4090, replaced);
    await renting.awaitStatus(id, 'running');
    await untilAcknowledged(0);
    const [pod] = await renting.pods(id);
    const sent = `${JSON.stringify(await service.gpus.state())}${Buffer.from(pod!.base64Script ?? '', 'base64').toString()}`;
    assert.ok(!sent.includes(secret) && !sent.includes('SECRET'));
    token = /Bearer ([0-9a-f]{64})/.exec(sent)?.[1] ?? '';
    assert.equal(await askAgain(), 401);
  });

  /** An hour is as good as a minute after the acknowledgement. */
  const restart = async (how: LabRestart) => {
    const [pod] = await renting.pods(id);
    await service
      .db('machine_tokens')
      .where({ purpose: 'bundle' })
      .update({ acknowledged_at: service.db.raw(`acknowledged_at - interval '1 hour'`) });
    await service.gpus.call('POST', `/lab/pods/${pod!.id}/restart`, how);
  };

  it('is not fetched again by a restart that the list does not show', async () => {
    const seen = async () => (await service.db('providers').first())!.pods_listed_at!;
    const before = await seen();
    await restart({ isTold: false });
    await until('a list has shown it again', async () => (await seen()) > before);
    assert.equal(await askAgain(), 401);
    assert.equal((await fetches()).length, 1);
  });

  it('is fetched again by each restart that the list shows, and by nobody after that', async () => {
    for (const [place, aheadMs] of [30_000, 60_000].entries()) {
      await restart({ aheadMs });
      await untilAcknowledged(place + 1);
      assert.equal(await askAgain(), 401);
    }
    assert.deepEqual(await fetches(), [
      { fetch: 1, afterRestart: false },
      { fetch: 1, afterRestart: true },
      { fetch: 1, afterRestart: true },
    ]);
  });

  it('is fetched by nobody once the machine is stopped, whatever lists show', async () => {
    const [pod] = await renting.pods(id);
    await renting.stop(user, id);
    await service.gpus.call('POST', `/lab/pods/${pod!.id}/restart`, {});
    await renting.awaitClosed(id);
    assert.equal(await askAgain(), 401);
    assert.equal((await fetches()).length, 3);
  });

  it('costs its renter where the image has no shell for it', async () => {
    const bare = await renting.open(
      user,
      { ...b200, gpuCount: 1 },
      {
        ...{ ...replaced, image: 'lab/no-sh:1', env: {} },
      },
    );
    const row = await renting.awaitStatus(bare, 'running');
    assert.equal(row.ready_by, 'grace');
    await until('it has cost a cent', async () => (await renting.entries(user)).length > 0);
    await renting.stop(user, bare);
    const ended = await renting.awaitClosed(bare);
    assert.deepEqual([ended.status, ended.refunded_cents], ['stopped', 0]);
    assert.ok(ended.charged_cents > 0);
  });
});

describe('a replaced entrypoint at several upstreams', () => {
  let service: TestService;
  let user: SignedIn;
  before(async () => {
    service = await startService({ dialects: ['vast', 'runpod'], listener: true });
    await until('both upstreams have told', async () => {
      const rows = await service.db('providers').whereNotNull('software');
      return rows.length === 2 && rows.every((row) => row.catalog_synced_at !== null);
    });
    user = await service.signIn(100_000);
  });
  after(() => service.stop());

  const quoted = async (wish: object) =>
    (await user.post('/v1/quotes', { familyId: rtx4090.familyId, gpuCount: 1, ...wish })).body;

  it('goes to one that opens no port unasked, though another is cheaper', async () => {
    const codeOf = async (wish: object) => (await quoted(wish)).listing.providerCode;
    assert.equal(await codeOf({}), 'lab-vast');
    assert.equal(await codeOf(replaced), 'lab-runpod');
    const closed = { name: 'db', port: 5432, kind: 'tcp' };
    const registryAuth = { username: 'ann', password: 'x' };
    for (const more of [{ ports: [closed] }, { registryAuth }, { diskGb: 100 }]) {
      assert.equal(await codeOf({ ...replaced, ...more }), 'lab-runpod', JSON.stringify(more));
    }
    assert.equal(await codeOf({ image: replaced.image }), 'lab-runpod');
  });

  it('is refused by field, upstream and limit where none can', async () => {
    const { error, details } = await quoted({ ...replaced, args: Array(17).fill('x'.repeat(4_096)) });
    assert.equal(error, 'software_unsupported');
    assert.deepEqual(
      details.misfits.map(({ field, providerCode, limit }) => [field, providerCode, limit]).sort(),
      [
        ['args', 'lab-vast', 0],
        ['entrypoint', 'lab-vast', null],
        ['image', 'lab-vast', null],
        ['startScript', 'lab-runpod', 65_536],
      ],
    );
    const kept = await quoted({ image: replaced.image, startScript });
    assert.deepEqual(kept.details.misfits.map(({ field, providerCode }) => [field, providerCode]).sort(), [
      ['image', 'lab-vast'],
      ['startScript', 'lab-runpod'],
    ]);
  });
});
