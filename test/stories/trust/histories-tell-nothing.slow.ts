import assert from 'node:assert/strict';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { RentalRow } from '../../../adapters/postgres/rows/tables.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { SignedIn } from '../../support/http/api.js';
import { AutoTopping } from '../../support/story/auto-topping.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runOps } from '../../support/ops/ops.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/**
 * Decision 89, "Words kept from Temporal": names, texts, cards, addresses and keys of users
 * never cross Temporal. The tests are one story.
 */
describe('what Temporal holds of a user’s whole story', () => {
  const rentalName = 'Project Zanzibar';
  const keyName = 'laptop of the renter';
  const description = 'A wire that came short of Zanzibar';
  const reason = 'the machine was slow for Zanzibar';
  let service: TestService;
  let user: SignedIn;
  let rental: RentalRow;
  let publicKey: string;
  /** All that Temporal keeps, by workflow: inputs, results, failures, memos, attributes, summaries, heartbeats. */
  let told: Map<string, string>;

  before(async () => {
    service = await startService({ autoTopupCooldownMs: 1_000 });
    const paying = new Invoicing(service);
    user = await service.signIn();
    publicKey = await addKey();
    await paying.saveCard(user);
    const { body } = await paying.checkout(user, 20_000);
    const paid = await paying.awaitTopup(body.topupId, 'succeeded');
    await rentAndFail();
    await topUpAutomatically();
    await issueInvoice(paying);
    await dispute(paying, paid.charge_id ?? '');
    await user.delete('/v1/billing/card');
    await paying.awaitHandled();
    await failWithWords();
    told = await readAll();
  });
  after(() => service.stop());

  async function addKey(): Promise<string> {
    const { body, status } = await user.post('/v1/ssh-keys', { name: keyName, generate: true });
    assert.equal(status, 200, JSON.stringify(body));
    return (body as unknown as { publicKey: string }).publicKey;
  }

  /** One machine that runs and is stopped, and upstream answers that quote their requests. */
  async function rentAndFail(): Promise<void> {
    const renting = new Renting(service);
    const id = await renting.open(user, b200, { name: rentalName, autoStopAfterHours: 2 });
    rental = await renting.awaitStatus(id, 'running');
    await renting.stop(user, id);
    await renting.awaitClosed(id);
  }

  async function topUpAutomatically(): Promise<void> {
    const topping = new AutoTopping(service);
    const { available_cents: cents } = await topping.wallet(user);
    await topping.run(user, 60);
    await topping.put(user, { enabled: true, thresholdCents: Math.min(100_000, cents + 1_000) });
    await topping.awaitAttempt(user, 'succeeded');
    await topping.put(user, { enabled: false });
  }

  async function issueInvoice(paying: Invoicing): Promise<void> {
    const args = ['--user', user.user.id, '--amount-cents', '900', '--description', description];
    const { code, err } = await runOps(service, 'invoice', 'create', ...args, '--reason', reason, '--yes');
    assert.equal(code, 0, err);
    const invoice = await until('the invoice is there', () =>
      service.db('invoices').where({ user_id: user.user.id, reason: 'manual' }).first(),
    );
    await paying.awaitInvoice(invoice.id, 'open');
    const refund = ['wallet', 'refund', '--user', user.user.id, '--amount-cents', '100'];
    assert.equal((await runOps(service, ...refund, '--reason', reason, '--yes')).code, 0);
  }

  async function dispute(paying: Invoicing, chargeId: string): Promise<void> {
    const id = String((await paying.order(`charges/${chargeId}/dispute`))['id']);
    await until('the dispute took its money', async () => {
      const row = await service.db('refunds_and_disputes').where({ id }).first();
      return row !== undefined && row.taken_at !== null;
    });
  }

  /** An activity that fails with an error of the database that quotes the user's e-mail address. */
  async function failWithWords(): Promise<void> {
    await service.db.raw(`create function quote_address() returns trigger language plpgsql as
      $$ begin raise exception 'no mail for %', '${user.user.email}'; end $$`);
    await service.db.raw(`create trigger quote_address before update on saved_cards
      for each row execute function quote_address()`);
    const pmId = 'pm_of_nobody';
    await service.db('saved_cards').insert({
      ...{ pm_id: pmId, user_id: user.user.id, brand: 'visa', last4: '4242', exp_month: 12, exp_year: 2040 },
      ...{ set_up_at: new Date(), removed_at: new Date(), removed_why: 'user' },
    } as never);
    await service.temporal.workflow.start('card', {
      ...{ workflowId: pmId, taskQueue: taskQueues.rentals, args: [{ id: pmId }] },
    });
    await until('it has failed', async () => {
      const { raw } = await service.temporal.workflow.getHandle(pmId).describe();
      return (raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure);
    });
  }

  async function readAll(): Promise<Map<string, string>> {
    const { workflow } = service.temporal;
    const all = new Map<string, string>();
    for await (const { workflowId, runId } of workflow.list()) {
      const handle = workflow.getHandle(workflowId, runId);
      const described = await handle.describe();
      const history = historyToJSON(await handle.fetchHistory());
      const shown = await handle.query('__temporal_workflow_metadata').catch(() => null);
      const parts = [decoded(history), plain(described.raw), plain(shown)];
      const { memo, searchAttributes } = described as { memo?: unknown; searchAttributes: unknown };
      const [summary, details] = await Promise.all([described.staticSummary(), described.staticDetails()]);
      parts.push(plain([memo, searchAttributes, summary, details]));
      all.set(`${workflowId} ${runId}`, parts.join('\n'));
    }
    return all;
  }

  /** The client's values as text, with their bytes decoded, such as a heartbeat's details. */
  function plain(given: unknown): string {
    const text = JSON.stringify(given, (key, value: unknown) => {
      if (key === 'identity' || key === 'stackTrace') return undefined;
      const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
      if (type === 'Buffer' && Array.isArray(data)) return Buffer.from(data as number[]).toString('utf8');
      return value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value;
    });
    return withoutSdk(text);
  }

  /** Decodes the payloads in a text of JSON. The identity of a worker (a process and a machine) is no user's data. */
  function decoded(json: string): string {
    const texts: unknown = JSON.parse(json, (key, value: unknown) => {
      if (key === 'identity' || key === 'stackTrace') return undefined;
      if (key !== 'data' || typeof value !== 'string') return value;
      return Buffer.from(value, 'base64').toString('utf8');
    });
    return withoutSdk(JSON.stringify(texts));
  }

  /** Removes the SDK's name, which looks like a mail address. */
  function withoutSdk(text: string): string {
    return text.replaceAll(/@temporalio\/worker@[\w.+]+/g, 'the SDK');
  }

  function assertUntold(what: string | RegExp): void {
    const found = [...told].filter(([, text]) =>
      typeof what === 'string' ? text.includes(what) : what.test(text),
    );
    assert.deepEqual(
      found.map(([workflow, text]) => {
        const at = typeof what === 'string' ? text.indexOf(what) : text.search(what);
        return `${workflow}: …${text.slice(Math.max(0, at - 80), at + 80)}…`;
      }),
      [],
    );
  }

  /** Matches a whole word: ids and instants are full of digits. */
  const word = (text: string | number): RegExp => new RegExp(`(?<![\\w.-])${text}(?![\\w.])`, 'i');

  it('is all there', () => {
    const types = [...told.values()].join('\n');
    for (const type of [
      'rental',
      'topup',
      'autoTopup',
      'card',
      'invoice',
      'dispute',
      'operation',
      'mailer',
    ]) {
      assert.match(types, new RegExp(`"workflowType":\\{"name":"${type}"\\}`), type);
    }
    assert.match([...told.values()].join('\n'), new RegExp(rental.id));
  });

  it('holds no name and no free text', () => {
    for (const text of [rentalName, 'Zanzibar', keyName, description, reason]) assertUntold(text);
  });

  it('holds nothing of the card', () => {
    assertUntold(word('visa'));
    assertUntold(word('4242'));
  });

  it('holds no address of a machine, nor of a client', () => {
    assertUntold(word('127\\.0\\.0\\.1'));
    assertUntold(word(rental.port ?? 0));
    assertUntold(rental.host_key_fingerprint ?? 'no fingerprint');
  });

  it('holds no e-mail address, also where an error has quoted it', () => {
    assertUntold(user.user.email);
    assertUntold(/[\w.]+@[\w.]+\.\w+/);
  });

  it('holds no SSH key', () => {
    assertUntold(publicKey.split(' ')[1] ?? publicKey);
    assertUntold(/ssh-(ed25519|rsa)|PRIVATE KEY/);
  });
});
