import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { AccountClosingRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { SignedIn } from '../../support/http/api.js';
import { createTestDatabase, restoreDump } from '../../support/servers/database.js';
import { dumpRows } from '../../support/servers/row-dump.js';
import { eraseInTurn } from '../../../activities/closing/erase.js';
import { closeAgain } from '../../../activities/closing/close-again.js';
import { noteClosedAccount } from '../../../adapters/closed-accounts-file.js';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { runOps } from '../../support/ops/ops.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { b200, Renting } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

/** What the law of bookkeeping keeps of a person: docs/security.md names it. */
const lawful: Readonly<Record<string, readonly string[]>> = {
  topups: ['Zanzibar Ltd', 'Spice Street 7', 'TZ-4711'],
  invoice_line_items: ['a wire that came short'],
};

/** An account is closed while a machine runs, and a dispute and an invoice are open. The tests are one story. */
describe('an account that is closed', () => {
  const words = {
    cardholder: 'Quentin Zebra',
    rental: 'Project Zebrawood',
    label: 'team-of-quentin',
    note: 'remember the password is hunter2',
    sshKey: 'laptop of quentin',
    apiKey: 'script of quentin',
    webhook: 'https://quentin.example.com/hook',
    describedHook: 'hook of quentin',
    buyer: 'Zanzibar Ltd',
    buyerAddress: 'Spice Street 7',
    taxId: 'TZ-4711',
    invoice: 'a wire that came short',
    reason: 'quentin phoned about the wire',
  };
  let service: TestService;
  let paying: Invoicing;
  let user: SignedIn;
  let rental: RentalRow;
  let disputeId: string;
  let customer: string;
  let publicKey: string;
  /** The rows of before it was closed. */
  let dump: string;

  before(async () => {
    service = await startService({ noticeQuietMs: 100 });
    paying = new Invoicing(service);
    user = await service.signIn();
    await plant();
    const first = await pay(4_000);
    await pay(3_000);
    await rent();
    await owe();
    disputeId = String((await paying.order(`charges/${first}/dispute`))['id']);
    await until('the dispute took its money', async () => {
      const row = await service.db('refunds_and_disputes').where({ id: disputeId }).first();
      return row !== undefined && row.taken_at !== null;
    });
    await give(700);
    customer = (await service.db('users').where({ id: user.user.id }).first())!.processor_customer_id ?? '';
    assert.match(customer, /^cus_/);
    dump = await dumpRows(service.db);
  });
  after(() => service.stop());

  async function post(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await user.post(path, body);
    assert.equal(answer.status, 200, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body as unknown as Record<string, unknown>;
  }

  async function plant(): Promise<void> {
    publicKey = String((await post('/v1/ssh-keys', { name: words.sshKey, generate: true }))['publicKey']);
    await post('/v1/api-keys', { name: words.apiKey, scopes: ['read'], allowedCidrs: ['203.0.113.0/24'] });
    await post('/v1/webhooks', { url: words.webhook, description: words.describedHook });
    const details = { name: words.buyer, address: words.buyerAddress, taxId: words.taxId };
    assert.equal((await user.put('/v1/billing/details', details)).status, 200);
    await user.put('/v1/billing/budget', { monthlyCents: 90_000, hard: false });
  }

  /** Pays on a page with a billing name, and returns the charge. */
  async function pay(cents: number): Promise<string> {
    const { topupId, url } = await paying.page(user, cents);
    await paying.pay(url, undefined, { saveCard: 'true', billingName: words.cardholder });
    return (await paying.awaitTopup(topupId, 'succeeded')).charge_id ?? '';
  }

  async function rent(): Promise<void> {
    const renting = new Renting(service);
    const more = { name: words.rental, labels: { [words.label]: 'yes' }, notes: words.note };
    const id = await renting.open(user, b200, more);
    rental = await renting.awaitStatus(id, 'running');
  }

  async function owe(): Promise<void> {
    const args = ['--user', user.user.id, '--amount-cents', '900', '--description', words.invoice];
    const { code, err } = await runOps(
      service,
      'invoice',
      'create',
      ...args,
      '--reason',
      words.reason,
      '--yes',
    );
    assert.equal(code, 0, err);
    await until('the invoice is open', () =>
      service.db('invoices').where({ user_id: user.user.id, reason: 'manual', status: 'open' }).first(),
    );
  }

  async function give(cents: number): Promise<void> {
    const args = ['--user', user.user.id, '--amount-cents', String(cents)];
    const { code, err } = await runOps(
      service,
      'wallet',
      'adjust',
      ...args,
      '--reason',
      words.reason,
      '--yes',
    );
    assert.equal(code, 0, err);
  }

  const closing = async (): Promise<AccountClosingRow | undefined> =>
    service.db('account_closings').where({ user_id: user.user.id }).first();

  const awaitState = (state: AccountClosingRow['state']): Promise<AccountClosingRow> =>
    until(`the closing is ${state}`, async () => {
      const failing = await service.db('stuck_items').where('item', 'like', 'closing:%').first();
      if (failing) assert.fail(failing.last_error);
      const row = await closing();
      return row?.state === state && row;
    });

  /** Has the closing looked at now, and not when its time comes. */
  const look = (): Promise<void> =>
    service.temporal.workflow.getHandle(`closing:${user.user.id}`).signal('processor-event');

  /** Each table in which a text stands, whatever its columns are. */
  async function tablesWith(text: string, db = service.db): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { name: string }[] }>(
      `select table_name as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
    );
    const found: string[] = [];
    for (const { name } of rows) {
      const hit = await db.raw<{ rows: unknown[] }>(
        `select 1 from ${name} t where strpos(lower(to_jsonb(t)::text), lower(?)) > 0 limit 1`,
        [text],
      );
      if (hit.rows.length > 0) found.push(name);
    }
    return found;
  }

  const allWords = (): string[] => [
    ...[user.user.email, customer, publicKey, rental.host_key_fingerprint ?? ''].filter(
      (word) => word !== '',
    ),
    ...Object.values(words),
  ];
  const lawfulOf = (word: string): string[] =>
    Object.keys(lawful).filter((table) => lawful[table]?.includes(word));

  it('ends its machines, and waits for what is open', async () => {
    await post('/v1/account/close', { email: user.user.email });
    await awaitState('settling');
    const gone = await service.db('rentals').where({ id: rental.id }).first();
    assert.deepEqual([gone?.status, gone?.closed_at === null], ['stopped', false]);
    const { body } = await user.get('/v1/account/closing');
    const { waitsFor } = body as unknown as { waitsFor: string[] };
    assert.deepEqual(waitsFor, ['invoices', 'disputes']);
    assert.notDeepEqual(await tablesWith(words.rental), [], 'the search finds what is there');
  });

  it('goes on once the invoice is paid and the dispute is over, and sends the money back', async () => {
    // What the dispute could not take, as the machine held it, is a debt of its own.
    for (const { id } of await service.db('invoices').where({ user_id: user.user.id, status: 'open' })) {
      await paying.pay((await paying.awaitInvoice(id, 'open')).hosted_invoice_url ?? '');
      await paying.awaitInvoice(id, 'paid');
    }
    await paying.order(`disputes/${disputeId}/lose`);
    await until('the dispute is over', async () => {
      const row = await service.db('refunds_and_disputes').where({ id: disputeId }).first();
      return row?.closed_at !== null;
    });
    await look();
    const done = await awaitState('kept');
    const returns = await service.db('closing_refunds').where({ user_id: user.user.id });
    const backCents = returns.reduce((sum, row) => sum + (row.refund_id === null ? 0 : row.amount_cents), 0);
    assert.ok(backCents > 0 && backCents <= 3_992, `${backCents} cents went back`);
    assert.ok(done.lapsed_cents <= 700);
    const wallet = await paying.wallet(user);
    assert.deepEqual([wallet.available_cents, wallet.reserved_cents], [0, 0]);
    assert.deepEqual(await verifyLedger(service.db), []);
    assert.equal((await service.stripe.customers.retrieve(customer)).deleted, true);
    assert.equal((await user.get('/v1/auth/me')).status, 401);
  });

  it('leaves nothing of its person but what the law keeps', async () => {
    await paying.awaitHandled();
    // What came late is erased by the next look.
    await look();
    for (const word of allWords()) {
      const allowed = lawfulOf(word);
      await until(`“${word}” is gone`, async () => {
        const found = await tablesWith(word);
        const more = found.filter((table) => !allowed.includes(table));
        if (more.length > 0) last = `${word}: ${more.join(', ')}`;
        return more.length === 0;
      }).catch((error: unknown) => assert.fail(`${String(error)} ${last}`));
    }
  });
  let last = '';

  it('leaves nothing in the histories of Temporal', async () => {
    const { workflow } = service.temporal;
    for await (const { workflowId, runId } of workflow.list()) {
      const history = historyToJSON(await workflow.getHandle(workflowId, runId).fetchHistory());
      const text = JSON.stringify(
        JSON.parse(history, (key, value: unknown) =>
          key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
        ),
      );
      for (const word of [user.user.email, ...Object.values(words)])
        assert.ok(!text.includes(word), `${word} in ${workflowId}`);
    }
  });

  it('leaves nothing in the logs but numbers', () => {
    const text = JSON.stringify(service.api.logged);
    assert.ok(text.includes(user.user.id), 'the search finds what is there');
    for (const word of allWords()) assert.ok(!text.includes(word), `${word} in the logs`);
  });

  it('leaves nothing in a dump of before that is restored, once it is reconciled and erased', async () => {
    const database = await createTestDatabase();
    const db = openDatabase(database.url, 2, 'test');
    const folder = mkdtempSync(join(tmpdir(), 'closed-'));
    try {
      await restoreDump(database, dump);
      assert.notDeepEqual(await tablesWith(words.rental, db), [], 'the dump brings it back');
      const closedAccountsFile = join(folder, 'closed-accounts');
      await noteClosedAccount(closedAccountsFile, user.user.id);
      const deps = await service.activityDeps();
      const settings = { ...deps.settings, closedAccountsFile };
      const restored = { ...deps, db, settings };
      assert.equal(await closeAgain(restored, () => undefined), 1);
      const key = settings.installationKey ?? assert.fail('no key');
      assert.ok(await eraseInTurn(restored, user.user.id, key, () => undefined));
      for (const word of allWords()) {
        const found = await tablesWith(word, db);
        assert.deepEqual(
          found.filter((table) => !lawfulOf(word).includes(table)),
          [],
          word,
        );
      }
    } finally {
      await db.destroy();
      await database.drop();
      rmSync(folder, { recursive: true });
    }
  });
});
