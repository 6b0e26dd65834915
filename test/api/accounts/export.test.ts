import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { exportFiles } from '../../../api/accounts/export-files.js';
import { Downloads } from '../../../api/http/middleware/downloads.js';
import { defaultTimeouts } from '../../../api/server.js';
import type { Telemetry } from '../../../api/rentals/describe-telemetry.js';
import { HOUR } from '../../../domain/durations.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { askExport, exportOf, filesIn, linesOf } from '../../support/http/archive.js';
import { FileReader } from '../../support/http/file-reader.js';
import { insertApiKeyOf, insertRental, insertRunningRental } from '../../support/money/factories.js';
import { credit, getWallet } from '../../support/money/money.js';
import { until } from '../../support/until.js';

const EXPORT = '/v1/account/export';

describe('the export of an account (decision 184)', function () {
  this.timeout(30_000);
  let api: TestApi;
  let user: SignedIn;
  let readers: FileReader[] = [];

  before(async () => {
    const pace = { bytes: 16 * 1024, withinMs: 1_200 };
    api = await startApi({ timeouts: { ...defaultTimeouts, pace } });
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  afterEach(() => {
    for (const { socket } of readers) socket.destroy();
    readers = [];
  });
  after(() => api.stop());

  async function codeOf(answer: Promise<Response>): Promise<string> {
    return ((await (await answer).json()) as { error: string }).error;
  }

  /** More than the kernel takes from us, however well it packs. */
  const fill = (): Promise<unknown> =>
    api.db.raw(
      `insert into mail_outbox (cause, recipient, subject, body)
       select 'test:' || mail.n || random(), :email, 'a long mail',
              (select string_agg(md5(random()::text || mail.n || k), '') from generate_series(1, 1000) k)
         from generate_series(1, 1000) mail(n)`,
      { email: user.user.email },
    );

  const failures = () => api.logged.filter(({ msg }) => msg === 'an export failed');

  /** Begins to read, and reads no further. */
  async function unread(): Promise<FileReader> {
    const reader = new FileReader(api.url, EXPORT, `Cookie: sid=${user.sid}`);
    readers.push(reader);
    assert.equal(await reader.begun(), 200);
    return reader;
  }

  it('is one archive, whose README names each file', async () => {
    await credit(api.db, user.user.id, 1_500);
    const answer = await askExport(user);
    assert.deepEqual(
      [answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')],
      [200, 'application/zip', 'no-store'],
    );
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /^attachment; filename="account-\d{4}-\d\d-\d\d\.zip"$/,
    );
    const files = filesIn(await answer.arrayBuffer());
    assert.deepEqual(Object.keys(files), ['README.txt', ...exportFiles.map(({ name }) => name)]);
    for (const { name, what } of exportFiles)
      assert.ok(files['README.txt']?.includes(`${name} `) && files['README.txt'].includes(what), name);
    const { user: told } = JSON.parse(files['account.json'] ?? '') as { user: { email: string } };
    assert.equal(told.email, user.user.email);
  });

  it('is of a session alone, whose user showed lately who they are', async () => {
    const { token } = await insertApiKeyOf(api.db, user.user.id, { scopes: ['read', 'billing', 'setup'] });
    const byKey = await api.withKey(token).get(EXPORT);
    assert.deepEqual([byKey.status, byKey.body.error], [403, 'session_required']);
    assert.equal((await api.stranger().get(EXPORT)).status, 401);
    await api
      .db('sessions')
      .where({ user_id: user.user.id })
      .update({ proved_at: new Date(0) });
    assert.equal((await user.get(EXPORT)).body.error, 'fresh_sign_in_required');
  });

  it('begins by no page of another site, and by links of its own', async () => {
    const foreign = await user.get(EXPORT, { 'Sec-Fetch-Site': 'cross-site' });
    assert.deepEqual([foreign.status, foreign.body.error], [403, 'forbidden']);
    assert.deepEqual(await api.db('mail_outbox').where({ recipient: user.user.email }), []);
    for (const site of ['same-origin', 'same-site', 'none'])
      assert.equal((await user.get(EXPORT, { 'Sec-Fetch-Site': site })).status, 200, site);
  });

  it('is theirs while the account is blocked, and while it is being closed', async () => {
    await api
      .db('users')
      .where({ id: user.user.id })
      .update({ blocked_at: api.db.raw('clock_ms()'), blocked_reason: 'a test' });
    assert.match((await exportOf(user))['standing.json'] ?? '', /a test/);
    await user.post('/v1/account/close', { email: user.user.email });
    assert.match((await exportOf(user))['closing.json'] ?? '', /"state": "stopping"/);
  });

  it('is written down, and mailed to its user', async () => {
    await exportOf(user);
    const kinds = (await user.get('/v1/audit')).body as unknown as { events: { kind: string }[] };
    assert.equal(kinds.events[0]?.kind, 'account_exported');
    const mails = await api.db('mail_outbox').where({ recipient: user.user.email }).select('subject');
    assert.deepEqual(mails, [{ subject: 'Your data was exported' }]);
  });

  it('tells nobody of what was never sent, and counts it as nothing', async () => {
    const begin = Object.getOwnPropertyDescriptor(Downloads.prototype, 'begin')!;
    Downloads.prototype.begin = () => {
      throw new Refusal('temporarily_unavailable', 'Too many files.');
    };
    try {
      for (let tries = 0; tries <= accountLimits.exportsPerHour; tries += 1) {
        const refused = await user.get(EXPORT);
        assert.deepEqual([refused.status, refused.body.error], [503, 'temporarily_unavailable']);
        await until('its place is free', async () => !(await isLeased(user)));
      }
    } finally {
      Object.defineProperty(Downloads.prototype, 'begin', begin);
    }
    assert.deepEqual(await api.db('mail_outbox').where({ recipient: user.user.email }), []);
    assert.deepEqual(await api.db('audit_events').where({ user_id: user.user.id }), []);
    await exportOf(user);
  });

  async function isLeased({ user: { id } }: SignedIn): Promise<boolean> {
    const { rows } = await api.db.raw<{ rows: unknown[] }>(
      'select 1 from rate_limits where key = ? and expire > epoch_ms(clock_ms())',
      [`lease:export:${id}`],
    );
    return rows.length > 0;
  }

  it('runs once at a time, in any process, and leaves its place when its reader goes', async () => {
    await fill();
    const first = await unread();
    const other = await startApi({ databaseUrl: api.databaseUrl });
    try {
      const elsewhere = Object.assign(other.stranger(), { sid: user.sid });
      const refused = await elsewhere.get(EXPORT);
      assert.deepEqual(
        [refused.status, refused.body.error, refused.headers.get('retry-after')],
        [409, 'export_running', '30'],
      );
      assert.equal((await exportOf(await api.signIn()))['emails.jsonl']?.includes('a long mail'), false);
      first.socket.destroy();
      await until('its place is free', async () => (await askExport(elsewhere)).status === 200);
      assert.deepEqual(failures(), []);
    } finally {
      await other.stop();
    }
  });

  it('is cut where nobody reads it, and leaves its place', async () => {
    await fill();
    await unread();
    assert.equal((await askExport(user)).status, 409);
    await until('its place is free', async () => {
      const answer = await askExport(user);
      await answer.body?.cancel();
      return answer.status === 200;
    });
  });

  it('does not look whole when it fails in the middle', async () => {
    await credit(api.db, user.user.id, 1_500);
    await api.db.raw('alter table webhooks rename to webhooks_away');
    try {
      const answer = await askExport(user);
      assert.equal(answer.status, 200);
      const pieces: Uint8Array[] = [];
      await assert.rejects(async () => {
        for await (const piece of answer.body!) pieces.push(piece as Uint8Array);
      });
      const bytes = Buffer.concat(pieces);
      assert.ok(bytes.includes('ledger.csv'));
      assert.throws(() => filesIn(new Uint8Array(bytes).buffer));
      assert.equal(failures().length, 1);
    } finally {
      await api.db.raw('alter table webhooks_away rename to webhooks');
    }
    assert.ok((await exportOf(user))['webhooks.jsonl'] !== undefined, 'its place is free');
  });

  it('may begin so often in an hour', async () => {
    for (let begun = 0; begun < accountLimits.exportsPerHour; begun += 1) await exportOf(user);
    const refused = await user.get(EXPORT);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limited']);
    assert.ok(Number(refused.headers.get('retry-after')) > 60);
  });

  it('begins nothing where only its headers are asked for', async () => {
    const headers = { cookie: `sid=${user.sid}` };
    const head = await fetch(api.url + EXPORT, { method: 'HEAD', headers });
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'application/zip']);
    assert.equal(await codeOf(askExport({ url: api.url, sid: 'none' })), 'unauthorized');
    assert.deepEqual(await api.db('audit_events').where({ user_id: user.user.id }), []);
  });

  it('has all pages of each list, each item once', async () => {
    const { db } = api;
    const { id: userId, email } = user.user;
    const wallet = await getWallet(db, userId);
    for (let no = 0; no < 205; no += 1) await insertRental(db, userId);
    const id = (prefix: string) => `'${prefix}_' || lpad(upper(to_hex(n + ${randomInt(2 ** 30)})), 26, '0')`;
    const numbers = 'from generate_series(1, 401) n';
    await db.raw(
      `insert into invoices (id, user_id, wallet_id, status, reason, amount_cents, cause, finalized_at, paid_at)
       select ${id('inv')}, :userId, :walletId, 'paid', 'manual', 900, 'test:' || :userId || n, now(), now() ${numbers}`,
      { userId, walletId: wallet.id },
    );
    await db.raw(
      `insert into events (id, user_id, seq, type, entity_id, data, at)
       select ${id('evt')}, :userId, n, 'ssh_key.removed', 'key_1', '{"fingerprint":"x"}', now() ${numbers}`,
      { userId },
    );
    await db('event_feeds').insert({ user_id: userId, last_seq: 401 });
    await db.raw(
      `insert into mail_outbox (cause, recipient, subject, body)
       select 'test:' || :email || n, :email, 'mail ' || n, '' ${numbers}`,
      { email },
    );
    const files = await exportOf(user);
    const counts = [
      ['rentals', 'id', 205],
      ['invoices', 'id', 401],
      ['events', 'seq', 401],
      ['emails', 'subject', 402],
    ] as const;
    for (const [name, key, count] of counts) {
      const lines = linesOf(files[`${name}.jsonl`]);
      assert.deepEqual([lines.length, new Set(lines.map((line) => line[key])).size], [count, count], name);
    }
  });

  it('tells the use of a machine by minute, a day on each line', async () => {
    const hour = (ago: number): Date => new Date(Math.floor(Date.now() / HOUR) * HOUR - ago * HOUR);
    const { no } = await insertRunningRental(api.db, user.user.id, 60 * HOUR);
    await insertRunningRental(api.db, user.user.id, 60 * HOUR);
    for (const ago of [50, 2])
      await api
        .db('telemetry_hours')
        .insert({ rental_no: no, hour: hour(ago), source: 'upstream', minutes: Buffer.alloc(300, 7) });
    const lines = linesOf((await exportOf(user))['machine-use.jsonl']) as unknown as Telemetry[];
    assert.deepEqual(
      lines.map(({ source, stepSeconds }) => [source, stepSeconds]),
      [
        ['upstream', 60],
        ['upstream', 60],
      ],
    );
    const told = lines.flatMap(({ points }) => points.filter(({ gpuPercent }) => gpuPercent !== null));
    assert.equal(told.length, 120);
  });
});
