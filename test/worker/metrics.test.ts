import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { databaseRoles } from '../../migrations/roles.js';
import { findFreePorts } from '../../lab/stack/ports.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { readMetrics, type Scraped } from '../support/http/metrics.js';
import { b200, Renting, rtx4090 } from '../support/story/renting.js';
import { until } from '../support/until.js';
import {
  startApiProcess,
  startListenerProcess,
  startWorkerProcess,
  type WorkerProcess,
} from '../support/service/worker-process.js';
import type { SignedIn } from '../support/http/api.js';
import { Paying } from '../support/story/paying.js';
import { API_KEY } from '../lab/provider/living-lab.js';
import { webhookSecret } from '../support/http/api.js';
import { secretKey } from '../support/service/living-service.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Reads the product's own processes as Prometheus does, after a session of rentals and payments. */
describe('what the processes tell operators', () => {
  let service: TestService;
  let worker: WorkerProcess;
  let api: WorkerProcess;
  let listener: WorkerProcess;
  let apiPort = 0;
  let renting: Renting;
  let user: SignedIn;
  let stoppedId: string;
  let shownByWorker: Scraped;
  let shownByApi: Scraped;
  let texts: string;
  /** Nothing that the processes tell is older than the test. */
  let tookSeconds: number;

  before(async () => {
    const begunMs = performance.now();
    service = await startService({ worker: false });
    const [free = 0, machinePort = 0] = await findFreePorts(2);
    apiPort = free;
    [worker, api, listener] = await Promise.all([
      startWorkerProcess(service, { METRICS_PORT: '0' }),
      startApiProcess(service, { API_PORT: String(apiPort), METRICS_PORT: '0' }),
      startListenerProcess(service, { MACHINE_PORT: String(machinePort), METRICS_PORT: '0' }),
    ]);
    await until('the catalog is read', async () => (await service.db('listings').first('id')) !== undefined);
    renting = new Renting(service);
    user = await service.signIn(50_000);
    await tellStory();
    // A group of figures that a busy database could not read in time shows nothing until it is read again.
    await until('all figures are read', async () => {
      texts = `${await scrape(worker)}\n${await scrape(api)}`;
      return shownByWorker.sum('gpu_rental_figures_failed') === 0;
    });
    tookSeconds = (performance.now() - begunMs) / 1_000;
  });
  after(async () => {
    try {
      await Promise.all(
        [worker, api, listener].map(async (program?: { stop(): Promise<unknown> }) => program?.stop()),
      );
    } finally {
      await service.stop();
    }
  });

  /** Plays two rentals (one of them stopped), a payment, and requests to the API's own process. */
  async function tellStory(): Promise<void> {
    const [stopped] = await Promise.all([renting.run(user, rtx4090), renting.run(user, b200)]);
    stoppedId = stopped.id;
    await renting.stop(user, stopped.id);
    await renting.awaitClosed(stopped.id);
    const paying = new Paying(service);
    await paying.pay((await paying.page(user, 2_000)).url);
    await paying.awaitHandled();
    const url = `http://127.0.0.1:${apiPort}`;
    const asked = ['/v1/rentals', `/v1/rentals/${stoppedId}`, '/nothing/here'].map((path) =>
      fetch(url + path, { headers: { Cookie: `sid=${user.sid!}` } }),
    );
    assert.deepEqual(
      (await Promise.all(asked)).map(({ status }) => status),
      [200, 200, 404],
    );
  }

  async function scrape(program: WorkerProcess): Promise<string> {
    const ready = program.logged().find(({ msg }) => msg === 'metrics ready');
    const answer = await fetch(`http://127.0.0.1:${String(ready?.['port'])}/metrics`);
    assert.equal(answer.status, 200);
    const text = await answer.text();
    if (program === worker) shownByWorker = readMetrics(text);
    if (program === api) shownByApi = readMetrics(text);
    return text;
  }

  it('shows the business as it is', () => {
    const lab = { provider: 'lab' };
    const shown = shownByWorker;
    assert.equal(shown.get('gpu_rental_rentals', { ...lab, status: 'running' }), 1);
    assert.equal(shown.get('gpu_rental_burn_cents_per_hour', lab), b200.pricePerHourCents);
    assert.equal(shown.get('gpu_rental_provisioned_last_hour', lab), 2);
    assert.ok(shown.get('gpu_rental_provisioning_seconds', { ...lab, quantile: '1' })! > 0);
    assert.equal(shown.get('gpu_rental_provisioning_failed_last_hour', lab), 0);
    assert.equal(shown.get('gpu_rental_failovers_last_hour'), 0);
    assert.equal(shown.get('gpu_rental_attempts_last_hour', { ...lab, state: 'adopted' }), 2);
    assert.ok(shown.get('gpu_rental_events_handled_last_hour')! >= 1);
    assert.ok(shown.get('gpu_rental_webhook_lag_seconds', { quantile: '1' })! < tookSeconds);
    assert.equal(shown.get('gpu_rental_events_unhandled'), 0);
    assert.ok(shown.get('gpu_rental_last_tick_age_seconds', { shard: '0' })! < tookSeconds);
    assert.equal(shown.get('gpu_rental_provider_out', lab), 0);
    assert.equal(shown.get('gpu_rental_brake_pulled', { brake: 'creates' }), 0);
    assert.equal(shown.sum('gpu_rental_figures_failed'), 0);
  });

  it('shows its own work: ticks, pools, and Temporal’s SDK in the same answer', () => {
    assert.ok(shownByWorker.get('gpu_rental_tick_duration_seconds_count', { shard: '0' })! >= 1);
    assert.ok(shownByWorker.sum('gpu_rental_tick_entries_total') >= 1);
    assert.equal(shownByWorker.get('gpu_rental_pool_connections_max', { pool: 'worker-open' }), 20);
    assert.equal(shownByWorker.get('gpu_rental_temporal_sdk_failed'), 0);
    assert.ok(shownByWorker.sum('temporal_workflow_completed_total') >= 1);
  });

  it('shows at each process whether PostgreSQL answers it', async () => {
    for (const shown of [shownByWorker, shownByApi, readMetrics(await scrape(listener))]) {
      assert.equal(shown.get('gpu_rental_dependency_up', { dependency: 'postgres' }), 1);
    }
  });

  it('counts requests by the template of their route, never by their path', () => {
    const count = (labels: Record<string, string>) =>
      shownByApi.get('gpu_rental_http_request_seconds_count', { method: 'GET', ...labels });
    assert.equal(count({ route: '/v1/rentals', status: '200' }), 1);
    assert.equal(count({ route: '/v1/rentals/:id', status: '200' }), 1);
    assert.equal(count({ route: 'none', status: '404' }), 1);
    assert.ok(!texts.includes(stoppedId));
  });

  it('names every metric that the alert rules and the dashboards look at', () => {
    const boards = readdirSync(new URL('../../ops/grafana', import.meta.url)).map(
      (file) => `ops/grafana/${file}`,
    );
    assert.equal(boards.length, 2);
    const known = new Set([...texts.matchAll(/^(?:# TYPE )?([a-z_:0-9]+)/gm)].map(([, name]) => name));
    const bases = (name: string): string[] => [name, name.replace(/_(bucket|count|sum)$/, '')];
    for (const file of ['ops/prometheus/alerts.yml', ...boards]) {
      const names = new Set(read(file).match(/\b(?:gpu_rental|temporal)_[a-z_]+/g));
      for (const role of Object.values(databaseRoles)) names.delete(role);
      assert.ok(names.size > 10, file);
      assert.deepEqual(
        [...names].filter((name) => !bases(name).some((base) => known.has(base))),
        [],
        file,
      );
    }
  });

  it('has a page for every alert, and a row of the docs for every metric', () => {
    const page = read('docs/operations/alerts.md');
    const rules = read('ops/prometheus/alerts.yml');
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name!);
    const links = [...rules.matchAll(/page: docs\/operations\/alerts\.md#(\w+)/g)].map(([, slug]) => slug!);
    assert.deepEqual(
      links,
      alerts.map((name) => name.toLowerCase()),
    );
    for (const name of alerts) assert.ok(page.includes(`\n## ${name}\n`), name);
    const described = read('docs/operations/observability.md');
    const ours = [...texts.matchAll(/^# TYPE (gpu_rental_\w+)/gm)].map(([, name]) => name!);
    assert.deepEqual(
      ours.filter((name) => !described.includes(`\`${name.replace('gpu_rental_', '')}\``)),
      [],
    );
  });

  it('finds a rental’s whole life in the log by its id, with the user, the workflow and the activity', async () => {
    const find = () => worker.logged().filter(({ rentalId }) => rentalId === stoppedId);
    // Lines are written beside the work, a moment later.
    await until('its last line is written', () =>
      find().some(({ msg, activityType }) => msg === 'activity done' && activityType === 'closeRental'),
    );
    const lines = find();
    const done = lines.filter(({ msg }) => msg === 'activity done').map(({ activityType }) => activityType);
    for (const step of [
      'openRental',
      'awaitPod',
      'startMetering',
      'meterRental',
      'settleRental',
      'endPods',
      'closeRental',
    ])
      assert.ok(done.includes(step), `${step} of ${done.join(', ')}`);
    assert.ok(lines.every(({ workflowId, attempt }) => workflowId === stoppedId && attempt === 1));
    assert.ok(lines.some(({ userId }) => userId === user.user.id));
    const asked = service.api.logged.filter(({ rentalId }) => rentalId === stoppedId);
    assert.deepEqual(
      [
        ...new Set(
          asked.map(({ method, status, userId }) => `${String(method)} ${String(status)} ${String(userId)}`),
        ),
      ],
      [`POST 200 ${user.user.id}`],
    );
    assert.ok(asked.every(({ requestId }) => typeof requestId === 'string'));
    const opening = lines.find(({ activityType }) => activityType === 'openRental');
    assert.equal(opening?.['requestId'], asked[0]?.['requestId'], 'the request’s id reaches the worker');
  });

  it('says in words beside each activity of a workflow what it is for', async () => {
    const { events } = await service.temporal.workflow.getHandle(stoppedId).fetchHistory();
    const scheduled = (events ?? []).filter(
      (event) =>
        event.activityTaskScheduledEventAttributes ??
        event.markerRecordedEventAttributes?.markerName === 'core_local_activity',
    );
    const summaries = scheduled.map((event) =>
      Buffer.from(event.userMetadata?.summary?.data ?? []).toString('utf8'),
    );
    assert.ok(summaries.includes('"Waits until the machine’s SSH daemon answers"'), summaries.join());
    assert.ok(summaries.includes('"The machine answers: billing begins"'), summaries.join());
    assert.ok(!summaries.includes(''));
  });

  it('has no secret in its log nor in its metrics', () => {
    const all = JSON.stringify([worker.logged(), api.logged(), service.api.logged]) + texts;
    const secrets = { secretKey, webhookSecret, API_KEY, session: user.sid!, email: user.user.email };
    for (const [what, secret] of Object.entries(secrets)) assert.ok(!all.includes(secret), what);
    assert.ok(!all.includes('PRIVATE KEY'));
  });
});
