import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { erasures, sweeps } from '../../../domain/accounts/erasure.js';
import { toldIn } from '../../../domain/accounts/export.js';
import type { UserId } from '../../../domain/ids.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { exportOf, linesOf } from '../../support/http/archive.js';
import { insertApiKeyOf, insertRunningRental, insertTopup } from '../../support/money/factories.js';
import { credit, getWallet } from '../../support/money/money.js';
import { wordColumns } from '../../support/catalog-columns.js';

/** Each list of the API, by its file: where it is asked for, and where in the answer its items stand. */
const lists: Readonly<Record<string, readonly [path: string, items?: string]>> = {
  'closing.json': ['/v1/account/closing'],
  'sessions.jsonl': ['/v1/auth/sessions?pageSize=200', 'sessions'],
  'passkeys.jsonl': ['/v1/auth/passkeys', 'passkeys'],
  'failed-sign-ins.jsonl': ['/v1/audit?pageSize=200', 'failedSignIns'],
  'audit.jsonl': ['/v1/audit?pageSize=200', 'events'],
  'ssh-keys.jsonl': ['/v1/ssh-keys', 'sshKeys'],
  'api-keys.jsonl': ['/v1/api-keys?pageSize=200', 'apiKeys'],
  'notices.json': ['/v1/notices'],
  'standing.json': ['/v1/billing/standing'],
  'topups.jsonl': ['/v1/billing/topups?pageSize=200', 'topups'],
  'invoices.jsonl': ['/v1/billing/invoices?limit=200', 'data'],
  'billing-details.json': ['/v1/billing/details'],
  'card.json': ['/v1/billing/card'],
  'auto-topup.json': ['/v1/billing/auto-topup'],
  'rentals.jsonl': ['/v1/rentals?pageSize=200', 'rentals'],
  'events.jsonl': ['/v1/events?pageSize=200', 'events'],
  'webhooks.jsonl': ['/v1/webhooks', 'webhooks'],
};

/** How the rows of a user are found in tables that erasing does not name. */
const whoseElse: Readonly<Record<string, string>> = {
  ledger_entries: 't.wallet_id = (select id from wallets where user_id = :userId)',
  invoice_line_items: 't.invoice_id in (select id from invoices where user_id = :userId)',
  webhook_deliveries: 't.webhook_id in (select id from webhooks where user_id = :userId)',
  idle_guards: 't.rental_no in (select no from rentals where user_id = :userId)',
  telemetry_hours: 't.rental_no in (select no from rentals where user_id = :userId)',
  mail_outbox: 't.recipient = :email and not t.wipe_after_sending',
};

describe('what stands in an export', function () {
  this.timeout(60_000);
  let api: TestApi;
  let mine: SignedIn;
  let files: Record<string, string>;
  /** Secrets, and the words of somebody else. */
  let absent: string[];

  before(async () => {
    api = await startApi();
    mine = await api.signIn();
    const theirs = await api.signIn();
    const secrets = await fill(mine, 'mine');
    absent = [...secrets, ...(await fill(theirs, 'theirs')), 'theirs', theirs.user.email, theirs.user.id];
    // Each read of them is one use of a session: it stands still meanwhile.
    files = await exportOf(mine);
  });
  after(() => api.stop());

  /** Gives an account something of everything. @returns secrets */
  async function fill({ user: { id: userId, email }, sid }: SignedIn, mark: string): Promise<string[]> {
    const { db } = api;
    await credit(db, userId, 5_000);
    const wallet = await getWallet(db, userId);
    await db.raw(
      `with e as (
         insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, processor_charge_id, created_at)
         values (:id, :seq + 1, 'processor_topup', 100, :cents + 100, :charge, clock_ms()))
       update wallets set available_cents = :cents + 100, seq = :seq + 1 where id = :id`,
      { id: wallet.id, seq: wallet.seq, cents: wallet.available_cents, charge: `ch_${mark}_paid` },
    );
    await db('users')
      .where({ id: userId })
      .update({ blocked_at: db.raw('clock_ms()'), blocked_reason: `${mark} reason` });
    await moreOfSignIn(userId, mark);
    const { row: key, token } = await insertApiKeyOf(db, userId, {
      ...{ name: `${mark} script`, allowedCidrs: ['203.0.113.0/24'] },
    });
    await db('api_keys')
      .where({ id: key.id })
      .update({ last_used_at: new Date(), last_used_address: '203.0.113.7' });
    const secretMail = `${mark}-code-123456`;
    await db('mail_outbox').insert([
      ...[
        {
          cause: `${mark}:1`,
          recipient: email,
          subject: `${mark} subject`,
          body: `${mark} text, off: https://off.example/${mark}-token.`,
          unsubscribe_url: `https://off.example/${mark}-token`,
        },
      ],
      ...[
        {
          cause: `${mark}:2`,
          recipient: email,
          subject: 'Your sign-in code',
          body: secretMail,
          wipe_after_sending: true,
        },
      ],
    ]);
    await moreOfMoney(userId, wallet.id, mark);
    await moreOfMachines(userId, mark);
    const { hookSecret } = await moreOfEvents(userId, mark);
    const { rows } = await db.raw<{ rows: { hash: string }[] }>(
      `select encode(token_hash, 'hex') as hash from sessions where user_id = :userId
       union select encode(token_hash, 'hex') from api_keys where user_id = :userId
       union select encode(credential_id, 'hex') from passkeys where user_id = :userId`,
      { userId },
    );
    const bytes = [...rows.map(({ hash }) => Buffer.from(hash, 'hex')), hookSecret];
    const forms = bytes.flatMap((one) => [
      one.toString('hex'),
      one.toString('base64'),
      one.toString('base64url'),
    ]);
    return [token, sid ?? '', secretMail, `${mark}-token`, ...forms];
  }

  async function moreOfSignIn(userId: UserId, mark: string): Promise<void> {
    const { db } = api;
    await db('sessions').where({ user_id: userId }).update({ client_address: '203.0.113.9' });
    await db('identities').insert({
      issuer: `https://${mark}.example`,
      subject: `${mark}-subject`,
      user_id: userId,
    });
    await db('passkeys').insert({
      ...{ id: newId('psk'), user_id: userId, credential_id: Buffer.from(`${mark}-credential`) },
      ...{
        public_key: Buffer.from(`${mark}-public`),
        counter: 0,
        transports: ['usb'],
        name: `${mark} passkey`,
      },
      ...{ backup_eligible: false, backed_up: false },
    });
    await db('failed_sign_ins').insert({
      user_id: userId,
      hour: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000),
      failed: 2,
    });
    await db('ssh_keys').insert({
      ...{ id: newId('key'), user_id: userId, name: `${mark} laptop` },
      ...{ public_key: `ssh-ed25519 ${mark}`, fingerprint: `SHA256:${mark}` },
    });
    await db('audit_events').insert({
      ...{ id: newId('aud'), user_id: userId, kind: 'rental_changed', entity_id: `${mark}-entity` },
      ...{ details: { was: `${mark} detail` }, client_address: '203.0.113.8', api_key_id: newId('key') },
    });
    await db('notice_settings').insert({ user_id: userId, kind: 'rental_lost' });
    await db('account_closings').insert({ user_id: userId, waits_for: ['invoices'] });
    await db('closing_refunds').insert({
      user_id: userId,
      payment_id: `pi_${mark}_back`,
      amount_cents: 1,
      called_at: new Date(),
      refund_id: `re_${mark}`,
    });
  }

  async function moreOfMoney(userId: UserId, walletId: number, mark: string): Promise<void> {
    const { db } = api;
    await insertTopup(db, userId, {
      ...{ charge_id: `ch_${mark}`, receipt_url: `https://r.example/${mark}`, error: `${mark} error` },
      ...{ decline_code: `${mark}_declined` },
    });
    await insertTopup(db, userId, {
      ...{
        status: 'succeeded',
        payment_id: `pi_${mark}_receipt`,
        checkout_url: null,
        credited_at: new Date(),
        credited_cents: 2_000,
      },
      ...{ card_brand: `${mark}brand`, card_last4: mark === 'mine' ? '4712' : '0816' },
      billed_to: { name: `${mark} Ltd of then`, address: `${mark} Lane`, taxId: `${mark}-TAX-THEN` },
      sold_by: { name: `${mark} Seller`, address: [`${mark} Seller Street`], taxId: `${mark}-SELLER` },
    });
    const invoice = newId('inv');
    await db('invoices').insert({
      ...{
        id: invoice,
        user_id: userId,
        wallet_id: walletId,
        status: 'paid',
        reason: 'manual',
        amount_cents: 900,
      },
      ...{
        cause: `${mark}:invoice`,
        processor_invoice_id: `in_${mark}`,
        finalized_at: new Date(),
        due_at: new Date(),
        paid_at: new Date(),
      },
      ...{ hosted_invoice_url: `https://h.example/${mark}`, invoice_pdf_url: `https://p.example/${mark}` },
      ...{ receipt_url: `https://i.example/${mark}` },
    });
    await db('invoice_line_items').insert({
      ...{ id: newId('li'), invoice_id: invoice, description: `${mark} wire`, amount_cents: 900 },
    });
    await db('refunds_and_disputes').insert({
      ...{
        id: `dp_${mark}`,
        kind: 'dispute',
        payment_id: `pi_${mark}`,
        user_id: userId,
        wallet_id: walletId,
      },
      ...{ amount_cents: 5, status: 'needs_response', taken_at: new Date() },
    });
    await db('billing_details').insert({
      ...{ user_id: userId, name: `${mark} Ltd`, address: `${mark} Street`, tax_id: `${mark}-TAX` },
    });
    await db('saved_cards').insert({
      ...{
        pm_id: `pm_${mark}`,
        user_id: userId,
        brand: `${mark}card`,
        last4: mark === 'mine' ? '4711' : '0815',
      },
      ...{ exp_month: 12, exp_year: 2040, set_up_at: new Date(), fingerprint: `${mark}-finger` },
    });
    await db('auto_topups').insert({
      ...{
        wallet_id: walletId,
        user_id: userId,
        enabled: false,
        topup_amount_cents: 1_000,
        disabled_why: 'card_expired',
      },
    });
    await db('budgets').insert({ user_id: userId, monthly_cents: 90_000 });
  }

  async function moreOfMachines(userId: UserId, mark: string): Promise<void> {
    const { db } = api;
    const rental = await insertRunningRental(db, userId, 3_600_000, {
      ...{
        name: `${mark} machine`,
        notes: `${mark} notes`,
        host: `${mark}.host.example`,
        username: `${mark}-user`,
      },
      ...{ host_key_fingerprint: `SHA256:${mark}-host`, model: `${mark} model` },
    });
    await db('rental_labels').insert({
      rental_no: rental.no,
      user_id: userId,
      key: `${mark}-team`,
      place: 1,
      value: `${mark}-value`,
    });
    await db('idle_guards').insert({ rental_no: rental.no, minutes: 30, ignores: ['sessions'] });
    await db('telemetry_hours').insert({
      ...{
        rental_no: rental.no,
        hour: new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000),
        source: 'upstream',
      },
      ...{ minutes: Buffer.alloc(300, 7) },
    });
    const failed = await insertRunningRental(db, userId, 60_000);
    await db('rentals')
      .where({ no: failed.no })
      .update({
        status: 'failed',
        error: `${mark} failure`,
        stop_reason: 'operator',
        ended_at: db.raw('clock_ms()'),
        settled_at: db.raw('clock_ms()'),
      });
  }

  async function moreOfEvents(userId: UserId, mark: string): Promise<{ hookSecret: Buffer }> {
    const { db } = api;
    await db('events').insert({
      ...{ id: newId('evt'), user_id: userId, seq: 1, type: 'ssh_key.added', entity_id: `${mark}-thing` },
      ...{ data: { fingerprint: `SHA256:${mark}-told` }, at: new Date(), sequenced_at: new Date() },
    });
    await db('event_feeds').insert({ user_id: userId, last_seq: 1 }).onConflict('user_id').merge();
    const webhook = newId('wh');
    await db('webhooks').insert({
      ...{ id: webhook, user_id: userId, url: `https://${mark}.hook.example`, types: ['rental.changed'] },
      ...{
        description: `${mark} hook`,
        state: 'switched_off',
        switched_off_why: 'gone',
        switched_off_at: new Date(),
      },
      ...{ enabled_at: new Date(), cursor_seq: 0 },
    });
    const hookSecret = Buffer.from(`${mark}-sealed-secret-of-a-hook`.padEnd(64, 'x'));
    await db('webhook_secrets').insert({ webhook_id: webhook, no: 1, sealed: hookSecret });
    await db('webhook_deliveries').insert({
      ...{ id: newId('dlv'), webhook_id: webhook, event_id: `evt_${mark}`, seq: 1, type: 'rental.changed' },
      ...{ attempt: 1, outcome: 'failed', fault: 'timeout', duration_ms: 5 },
    });
    return { hookSecret };
  }

  it('is what the API’s lists say', async () => {
    for (const [name, [path, items]] of Object.entries(lists)) {
      const body = (await mine.get(path)).body as unknown as Record<string, unknown>;
      const told: unknown = items === undefined ? JSON.parse(files[name] ?? '') : linesOf(files[name]);
      assert.deepEqual(told, items === undefined ? body : body[items], name);
      if (items !== undefined) assert.notDeepEqual(told, [], name);
    }
  });

  it('is in each file all that its tables hold of the user', async () => {
    const words = await wordColumns(api.db);
    for (const [file, tables] of Object.entries(toldIn)) {
      const text = leavesOf(file, files[file] ?? '');
      for (const [table, names] of Object.entries(tables)) {
        const columns = words.filter((column) => column.table === table).map(({ name }) => name);
        for (const column of names === '*'
          ? columns.filter((name) => name !== 'user_id')
          : names.split(' ')) {
          const values = await valuesOf(table, column);
          assert.notDeepEqual(values, [], `the test has nothing in ${table}.${column}`);
          for (const value of values) assert.ok(text.has(value), `${table}.${column}: ${value} in ${file}`);
        }
      }
    }
  });

  /** The texts in a column of the user’s rows. */
  async function valuesOf(table: string, column: string): Promise<string[]> {
    const whose =
      whoseElse[table] ??
      [...erasures, ...sweeps].find((each) => each.table === table)?.whose ??
      't.user_id = :userId';
    const { rows } = await api.db.raw<{ rows: { value: unknown }[] }>(
      `select to_jsonb(t.${column}) as value from ${table} t where ${whose}`,
      { userId: mine.user.id, email: mine.user.email, customerId: null, mailbox: mine.user.email },
    );
    // What is told without the address in it that switches such mails off.
    return rows
      .flatMap(({ value }) => leaves(value))
      .map((text) => text.replace(/https:\/\/off\.example\/\S+-token/, '(link)'));
  }

  it('adds up to the balance', () => {
    const [names = '', ...lines] = (files['ledger.csv'] ?? '').trimEnd().split('\r\n');
    const at = (name: string): number => names.split(',').indexOf(name);
    const amounts = lines.map((line) => Number(line.split(',')[at('amountCents')]));
    const balance = JSON.parse(files['balance.json'] ?? '') as { totalCents: number };
    assert.equal(
      amounts.reduce((sum, cents) => sum + cents, 0),
      balance.totalCents,
    );
    assert.equal(Number(lines.at(-1)?.split(',')[at('balanceAfterCents')]), balance.totalCents);
    assert.ok(balance.totalCents > 0);
  });

  it('is nobody else’s, and no secret', () => {
    const text = Object.values(files).join('\n').toLowerCase();
    assert.ok(text.includes('mine machine'), 'the search finds what is there');
    for (const word of absent) {
      assert.notEqual(word, '');
      assert.ok(!text.includes(word.toLowerCase()), word);
    }
  });
});

/** The texts that stand in a file. */
function leavesOf(name: string, text: string): ReadonlySet<string> {
  if (name.endsWith('.csv')) return new Set(text.split(/[,\r\n]+/));
  if (name.endsWith('.json')) return new Set(leaves(JSON.parse(text)));
  return new Set(linesOf(text).flatMap(leaves));
}

/** The texts in a value, with the names of its fields. */
function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value)
    ? value.flatMap(leaves)
    : Object.entries(value).flatMap(([key, one]) => [key, ...leaves(one)]);
}
