import assert from 'node:assert/strict';
import type { RentalId } from '../../../domain/ids.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import type { SignedIn } from '../../support/http/api.js';
import { servingWords } from '../../support/own-software.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { b200, netCents, priceOf, Renting, rtx4090 } from '../../support/story/renting.js';
import { toldTypes } from '../../support/story/told-events.js';
import { until } from '../../support/until.js';

const GRACE_MS = 1_500;
const machine = { familyId: rtx4090.familyId, gpuCount: rtx4090.gpuCount };
const [env, script, password, arg] = ['planted-env', 'planted-script', 'planted-password', 'planted-arg'];

describe('own software', () => {
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  before(async () => {
    service = await startService({
      dialects: ['shadeform', 'runpod'],
      ownSoftwareGraceMs: GRACE_MS,
      bootMs: 50,
    });
    renting = new Renting(service);
    await until('both upstreams have told', async () => {
      const rows = await service.db('providers').whereNotNull('software');
      return rows.length === 2 && rows.every((row) => row.catalog_synced_at !== null);
    });
  });
  beforeEach(async () => {
    user = await service.signIn(10_000);
  });
  afterEach(async () => {
    await service.gpus.clearFaults();
    await renting.assertAddsUp();
  });
  after(() => service.stop());

  const shown = async (id: RentalId) => (await user.get(`/v1/rentals/${id}`)).body;

  it('serves a page that is fetched through its endpoint, and begins to be billed when the page answers', async () => {
    const [port = 0] = await findFreePorts(1);
    // The sealed disk sends it to the upstream that sells one.
    const wish = {
      ...{ ...machine, image: 'lab/command:1', args: servingWords(port, 'hello'), diskGb: 60 },
      ports: [
        { name: 'page', port, kind: 'http', public: true },
        { name: 'admin', port: port === 9_000 ? 9_001 : 9_000, kind: 'tcp' },
      ],
    };
    const quote = await user.post('/v1/quotes', wish);
    assert.equal(quote.status, 200, JSON.stringify(quote.body));
    assert.equal(quote.body.listing.providerCode, 'lab-runpod');
    assert.deepEqual(quote.body.ownSoftware, {
      ...{ graceSeconds: 120, publicPorts: ['page'], imageNeeds: [] },
    });
    const answer = await user.post('/v1/rentals', { quoteId: quote.body.quoteId });
    assert.deepEqual(answer.body.warnings, ['public_port'], JSON.stringify(answer.body));
    const id = answer.body.id as RentalId;
    const row = await renting.awaitStatus(id, 'running');
    assert.equal(row.ready_by, 'port');
    const rental = await shown(id);
    assert.deepEqual([rental.host, rental.port, rental.templateId], [null, null, 'own-software']);
    const [page, admin] = rental.endpoints;
    assert.equal(await (await fetch(page!.url)).text(), 'hello');
    assert.deepEqual([admin!.url, admin!.host, admin!['public']], [null, null, false]);
    await renting.stop(user, id);
    await renting.awaitClosed(id);
    assert.ok(!(await toldTypes(service.db, id)).includes('rental.ssh_answered'));
  });

  it('that never answers is billed after its grace, and ends stopped with its bill', async () => {
    const id = await renting.open(user, { ...b200, gpuCount: 1 }, { image: 'nobody/listens:1', diskGb: 60 });
    const row = await renting.awaitStatus(id, 'running');
    assert.equal(row.ready_by, 'grace');
    const pod = await service.db('pods').where({ pod_id: row.pod_id! }).first();
    assert.ok(row.running_at!.getTime() - pod!.active_at!.getTime() >= GRACE_MS);
    await until('it has cost a cent', async () => (await renting.entries(user)).length > 0);
    // A container that ends itself within the first minute is no machine that was lost.
    const [labPod] = await renting.pods(id);
    await service.gpus.crash(labPod!.id, 'error');
    const ended = await renting.awaitClosed(id);
    assert.deepEqual([ended.status, ended.stop_reason], ['stopped', 'pod_lost']);
    assert.ok(ended.charged_cents > 0);
    assert.equal(netCents(ended), priceOf(ended));
  });

  it('runs a start script with variables on a machine that SSH enters', async () => {
    const [port = 0] = await findFreePorts(1);
    const [node, ...words] = servingWords(port, 'scripted');
    const startScript = `exec ${node} ${words.map((word) => JSON.stringify(word)).join(' ')}`;
    const ports = [{ name: 'page', port, kind: 'http', public: true }];
    const id = await renting.open(user, machine, { startScript, env: { A: 'b' }, ports });
    await renting.awaitStatus(id, 'running');
    const { endpoints, software } = await until('its endpoint is told', async () => {
      const rental = await shown(id);
      return rental.endpoints[0]?.url ? rental : undefined;
    });
    assert.deepEqual([software['envNames'], software['hasStartScript']], [['A'], true]);
    assert.equal(
      await until('it serves', async () => {
        const page = await fetch(endpoints[0]!.url).catch(() => undefined);
        return page?.text();
      }),
      'scripted',
    );
    await renting.stop(user, id);
  });

  it('is refused at the quote by field, upstream and limit where no upstream can', async () => {
    const wish = { ...machine, startScript: 'true', diskGb: 100 };
    for (const path of ['/v1/quotes', '/v1/rentals']) {
      const { status, body } = await user.post(path, wish);
      assert.deepEqual([status, body.error], [400, 'software_unsupported'], JSON.stringify(body));
      assert.deepEqual(
        body.details.misfits.map(({ field, providerCode, limit }) => [field, providerCode, limit]),
        [
          ['diskGb', 'lab', 0],
          ['startScript', 'lab-runpod', null],
        ],
      );
    }
  });

  it('goes with variables alone to the next upstream that gives them to the template, or is refused by field', async () => {
    const wish = { ...machine, env: { KEY: env } };
    const quote = await user.post('/v1/quotes', wish);
    assert.equal(quote.status, 200, JSON.stringify(quote.body));
    assert.equal(quote.body.listing.providerCode, 'lab-runpod');
    const maxPricePerHourCents = quote.body.pricePerHourCents - 1;
    const { status, body } = await user.post('/v1/quotes', { ...wish, maxPricePerHourCents });
    assert.deepEqual([status, body.error], [400, 'software_unsupported'], JSON.stringify(body));
    assert.deepEqual(
      body.details.misfits.map(({ field, providerCode, limit }) => [field, providerCode, limit]),
      [['env', 'lab', null]],
    );
  });

  it('is refused while no worker has told that it can start any, and starts no plain machine', async () => {
    const told = await service.db('providers').select('code', 'software', 'telemetry');
    const guarded = { ...machine, stopWhenIdleMinutes: 30, idleIgnores: ['sessions'] };
    const wish = { ...machine, env: { KEY: env }, startScript: `echo ${script}` };
    const quote = await user.post('/v1/quotes', wish);
    // As a worker of the release before leaves it.
    await service.db('providers').update({ software: null, telemetry: null });
    for (const [path, body] of [
      ['/v1/quotes', wish],
      ['/v1/rentals', wish],
      ['/v1/rentals', { quoteId: quote.body.quoteId }],
    ] as const) {
      const refused = await user.post(path, body);
      assert.deepEqual([refused.status, refused.body.error], [400, 'software_unsupported'], path);
    }
    const unguarded = await user.post('/v1/rentals', guarded);
    assert.deepEqual([unguarded.status, unguarded.body.error], [400, 'idle_guard_unsupported']);
    for (const { code, ...row } of told) {
      const json = (value: object | null) => (value && JSON.stringify(value)) as never;
      const restored = { software: json(row.software), telemetry: json(row.telemetry) };
      await service.db('providers').where({ code }).update(restored);
    }
    const kept = await service.db('rental_requests').where({ user_id: user.user.id }).select('answer_before');
    for (const { answer_before: until } of kept) assert.equal(until.getTime(), 0, 'nothing opens it later');
    assert.equal((await user.get('/v1/rentals')).body.rentals.length, 0);
  });

  it('never repeats what it refuses', async () => {
    const bad = [
      { env: { KEY: `${env}\0` } },
      { env: { [`${env} =`]: 'x' } },
      { startScript: `${script}\0` },
      { image: 'a/b', registryAuth: { username: 'u', password: 5, extra: password } },
      { image: 'a/b', args: [`${arg}\0`] },
      { args: [arg] },
      { env: { PUBLIC_KEY: env } },
      { registryAuth: { username: 'u', password } },
      { env: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`K${index}`, env])) },
    ];
    for (const more of bad) {
      const { status, body } = await user.post('/v1/quotes', { ...machine, ...more });
      assert.equal(status, 400, JSON.stringify(body));
      assert.doesNotMatch(JSON.stringify(body), /planted/);
      assert.match(JSON.stringify(body.details), /env|startScript|registryAuth|args|body/);
    }
  });

  it('fits into a request with the largest script, and strangers send no such body', async () => {
    const startScript = 'a'.repeat(64 * 1024);
    const large = await user.post('/v1/quotes', { ...machine, startScript });
    assert.equal(large.status, 200, JSON.stringify(large.body));
    const larger = await user.post('/v1/quotes', { ...machine, startScript: `${startScript}a` });
    assert.equal(larger.body.details.fields[0]?.field, 'startScript');
    const stranger = await fetch(`${service.api.url}/v1/quotes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...machine, startScript }),
    });
    assert.equal(stranger.status, 401);
    await stranger.text();
  });
});
