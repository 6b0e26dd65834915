import assert from 'node:assert/strict';
import { prune } from '../../../adapters/postgres/upkeep/retention.js';
import { ProviderError, type Provider } from '../../../adapters/providers/provider.js';
import type { RentalId } from '../../../domain/ids.js';
import { retention } from '../../../domain/operations/retention.js';
import type { SignedIn } from '../../support/http/api.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runUpkeepRound } from '../../support/service/upkeep-round.js';
import { Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';
import { startReceiver, type Receiver } from '../../support/webhooks/receiver.js';

const machine = { familyId: rtx4090.familyId, gpuCount: rtx4090.gpuCount };
const secrets = {
  ...{ arg: 'planted-arg-5f1', env: 'planted-env-5f1', username: 'planted-username-5f1' },
  ...{ password: 'planted-password-5f1', script: 'planted-script-5f1' },
};
const { arg, env, username, password, script } = secrets;

/** An image in the container cloud, with a secret in each field. */
const image = {
  ...{ ...machine, image: 'registry.lab/team/command:1', args: [arg], env: { KEY: env }, diskGb: 60 },
  registryAuth: { username, password },
};
const scripted = { ...machine, startScript: `echo ${script}`, env: { KEY: env } };
const notebook = { ...machine, templateId: 'jupyter' };

/** Secrets are planted in each place that takes them, and searched for in all that is kept, told or sent. */
describe('planted secrets', function () {
  this.timeout(60_000);
  let service: TestService;
  let renting: Renting;
  let user: SignedIn;
  let receiver: Receiver;
  /** The upstream refuses the next order, and repeats all of it. */
  let repeats = false;
  /** Everything that anybody was answered. */
  const answers: string[] = [];
  const tokens: string[] = [];

  const repeating = (provider: Provider): Provider => ({
    ...provider,
    allocate(request) {
      if (!repeats) return provider.allocate(request);
      const words = JSON.stringify(request);
      throw new ProviderError('refused', `creating a pod: HTTP 422: ${words}`, { status: 422 });
    },
  });

  before(async () => {
    service = await startService({
      ...{ dialects: ['shadeform', 'runpod'], ownSoftwareGraceMs: 300, bootMs: 50 },
      ...{ logLevel: 'trace', wrapProvider: repeating, noticeQuietMs: 0 },
    });
    renting = new Renting(service);
    user = await service.signIn(10_000);
    receiver = await startReceiver();
    const hook = await user.post('/v1/webhooks', { url: receiver.url });
    await until('the webhook is enabled', async () => {
      const [row] = await service.db('webhooks').where({ id: hook.body.id as never });
      return row?.state === 'enabled';
    });
    await until('both upstreams have told', async () => {
      const rows = await service.db('providers').whereNotNull('software');
      return rows.length === 2 && rows.every((row) => row.catalog_synced_at !== null);
    });
  });
  after(async () => {
    await receiver.close();
    await service.stop();
  });

  async function ask(method: 'get' | 'post', path: string, body?: object, headers?: Record<string, string>) {
    const answer =
      method === 'get' ? await user.get(path, headers) : await user.post(path, body ?? {}, headers);
    answers.push(answer.text);
    return answer;
  }

  it('are sent to the upstream alone: quotes, rentals, repetitions and refusals', async () => {
    const key = { 'Idempotency-Key': 'planted' };
    const first = await ask('post', '/v1/rentals', image, key);
    assert.equal(first.status, 200, first.text);
    assert.equal((await ask('post', '/v1/rentals', image, key)).body.id, first.body.id);
    const other = await ask('post', '/v1/rentals', { ...image, env: { KEY: `${env}2` } }, key);
    assert.equal(other.body.error, 'idempotency_conflict');
    const quote = await ask('post', '/v1/quotes', scripted);
    const second = await ask('post', '/v1/rentals', { quoteId: quote.body.quoteId });
    const third = await ask('post', '/v1/rentals', notebook);
    const ids = [first, second, third].map(({ body }) => body.id as RentalId);
    for (const id of ids) await renting.awaitStatus(id, 'running');
    // Not among the answers: this is the one that tells it.
    const { body } = await user.get(`/v1/rentals/${ids[2]!}/endpoints/notebook/token`);
    tokens.push((body as unknown as { token: string }).token);
    const { pods, registries } = await service.gpus.state();
    const sent = JSON.stringify([
      pods.map((pod) => ({
        ...pod,
        script: Buffer.from(pod.base64Script ?? '', 'base64').toString('utf8'),
      })),
      registries,
    ]);
    const inScript = Buffer.from(scripted.startScript).toString('base64');
    for (const planted of [arg, env, username, password, inScript, ...tokens]) {
      assert.ok(sent.includes(planted), `the upstream did not get ${planted}`);
    }
    for (const id of ids) await ask('get', `/v1/rentals/${id}`);
    for (const id of ids) {
      await renting.stop(user, id);
      await renting.awaitClosed(id);
    }
  });

  it('are in no words of ours where the upstream refuses an order and repeats it', async () => {
    repeats = true;
    for (const wish of [image, scripted, notebook]) {
      assert.equal((await ask('post', '/v1/rentals', wish)).status, 400);
    }
    repeats = false;
    const attempts = await service.db('allocation_attempts').whereNotNull('error').pluck('error');
    assert.ok(attempts.includes('refused: creating a pod: refused, HTTP 422'), attempts.join('\n'));
    for (const wrong of [
      { ...machine, env: { KEY: `${env}\0` } },
      { ...scripted, startScript: `${script}\0` },
      { ...image, startScript: script },
    ]) {
      assert.equal((await ask('post', '/v1/quotes', wrong)).status, 400);
    }
  });

  it('are found in no list, event, webhook, mail, log, history or table', async () => {
    await until('the webhook has heard of the end', () =>
      receiver.events().some(({ type }) => type === 'rental.stopped'),
    );
    for (const path of ['/v1/rentals', '/v1/events?limit=200', '/v1/audit', '/v1/billing/ledger']) {
      await ask('get', path);
    }
    const { email } = user.user;
    await ask('post', '/v1/auth/request-code', { email });
    const mails = await until('a mail has arrived', async () => {
      const answer = await fetch(`${service.inbox.url}/mails?to=${encodeURIComponent(email)}`);
      const text = await answer.text();
      return text.includes('code is') ? text : undefined;
    });
    const places = {
      'an answer': answers.join('\n'),
      'a webhook': receiver.received.map(({ body }) => body).join('\n'),
      'a mail': mails,
      'a log line': service.api.logged.map((line) => JSON.stringify(line)).join('\n'),
      'a history': await historiesOf(service),
      'a table': await dumpOf(service),
    };
    for (const [place, text] of Object.entries(places)) {
      assert.ok(text.length > 100, `${place} is there to be searched`);
      for (const planted of [...Object.values(secrets), ...tokens]) {
        for (const form of [planted, Buffer.from(planted).toString('base64').slice(0, -4)]) {
          assert.ok(!text.includes(form), `${place} holds ${planted}`);
        }
      }
    }
  });

  it('are gone with their machines: credentials are swept, and what was sealed is pruned', async () => {
    await runUpkeepRound(service, 'sweep');
    assert.deepEqual((await service.gpus.state()).registries, []);
    assert.ok((await service.db('software_secrets')).length > 0);
    await service.db('software_secrets').update({ created_at: service.db.raw(`now() - interval '1 hour'`) });
    const [rule] = retention.filter(({ table }) => table === 'software_secrets');
    await prune(service.db, rule!, { tell: () => undefined });
    assert.deepEqual(await service.db('software_secrets'), []);
  });
});

/** Every row of every table, as text; bytes as they lie there. */
async function dumpOf({ db }: TestService): Promise<string> {
  const { rows } = await db.raw<{ rows: { name: string }[] }>(
    `select quote_ident(table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of rows) {
    const table = await db.raw<{ rows: { t: string | null }[] }>(`select t::text as t from ${name} t`);
    texts.push(...table.rows.map(({ t }) => t ?? ''));
  }
  // A text in bytea is shown in hex.
  const all = texts.join('\n');
  const hex = [...all.matchAll(/\\x([0-9a-f]+)/g)].map(([, digits]) =>
    Buffer.from(digits ?? '', 'hex').toString('latin1'),
  );
  return [all, ...hex].join('\n');
}

/** The histories of all workflows of the service. */
async function historiesOf({ temporal }: TestService): Promise<string> {
  const texts: string[] = [];
  for await (const { workflowId, runId } of temporal.workflow.list()) {
    const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    texts.push(
      JSON.stringify(history, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      ),
    );
  }
  return texts.join('\n');
}
