import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { noteStatements } from '../../../activities/upkeep/statements.js';
import type { UserNoticeRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { makeKeyFile } from '../../../adapters/proof/signer.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import { signNext } from '../../../ops/money/proof.js';
import { credit, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { makeRoot, sealWhole } from '../../support/money/sealed.js';
import { ToldLedger } from '../../support/money/told-ledger.js';
import { VirtualClock } from '../../support/money/virtual-clock.js';

describe('statements by mail (decision 171)', () => {
  let money: MoneyDatabase;
  let clock: VirtualClock;
  let folder: string;
  beforeEach(async () => {
    money = await openMoneyDatabase();
    clock = await VirtualClock.install(money.db);
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-statements-'));
  });
  afterEach(async () => {
    await money.close();
    rmSync(folder, { recursive: true });
  });

  /** @returns what was told of it meanwhile */
  const note = async (): Promise<unknown[]> => {
    const heard: unknown[] = [];
    const deps = { db: money.db, log: pino({ level: 'silent' }) } as unknown as ActivityDeps;
    await noteStatements(deps, (detail) => heard.push(detail));
    return heard;
  };

  async function noteAll(): Promise<void> {
    for (let round = 0; round < 3; round++) await note();
  }

  const notices = (): Promise<UserNoticeRow[]> =>
    money.db('user_notices').where({ kind: 'statement' }).orderBy('id');

  const told = async () =>
    (await notices()).map(({ user_id: userId, facts }) => [userId, (facts as { month: string }).month]);

  /** Goes on to the second of the next month. */
  async function endMonth(): Promise<void> {
    const now = new Date(await clock.nowMs());
    await clock.pass(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 2) - now.getTime());
  }

  it('tell once what a month moved, and add up', async () => {
    const { db } = money;
    const wallet = await insertWallet(db, 500);
    const [silent, later] = [await insertWallet(db, 100), await insertWallet(db, 0)];
    await endMonth();
    const ledger = new ToldLedger(db, wallet.user_id);
    await ledger.payTopup();
    await ledger.runMachine(HOUR);
    // Whoever waits for the round hears of each: many large months together take longer than silence may.
    const items = [wallet, silent].map(({ id }) => ({ item: `2026-01:${id}` }));
    assert.deepEqual((await note()).slice(0, 2), items);
    assert.deepEqual(await told(), [
      [wallet.user_id, '2026-01'],
      [silent.user_id, '2026-01'],
    ]);
    await noteAll();
    await endMonth();
    await credit(db, later.user_id, 300);
    await noteAll();
    assert.deepEqual((await told()).slice(2), [[wallet.user_id, '2026-02']]);
    const facts = (await notices()).at(-1)?.facts;
    assert.deepEqual(facts, {
      month: '2026-02',
      openingCents: 500,
      paidInCents: 2_000,
      machinesCents: -360,
      otherCents: 0,
      closingCents: 2_140,
      rootHash: null,
    });
  });

  it('wait for a root that covers the month, where the ledger is sealed, but not for ever', async () => {
    const { db } = money;
    const wallet = await insertWallet(db, 500);
    await db.raw('select switch_sealing(true)');
    await sealWhole(db, wallet);
    await endMonth();
    await noteAll();
    assert.deepEqual(await told(), []);
    const key = makeKeyFile(join(folder, 'key.pem'));
    const signAll = async () => {
      while ((await signNext(db, { key }, join(folder, 'roots'))) !== undefined);
    };
    // This root's walk began in the month, so it may miss what came after the wallet's turn.
    await db('ledger_sealing').update({ daily_at: db.raw(`clock_ms() - interval '2 days'`) });
    await makeRoot(db);
    await signAll();
    await noteAll();
    assert.deepEqual(await told(), [], 'it does not cover the month');
    await db('ledger_sealing').update({ daily_at: db.raw('clock_ms()') });
    await makeRoot(db);
    await noteAll();
    assert.deepEqual(await told(), [], 'it is not signed');
    await signAll();
    await noteAll();
    const [first] = await notices();
    assert.match((first!.facts as { rootHash: string }).rootHash, /^[0-9a-f]{64}$/);

    await credit(db, wallet.user_id, 100);
    await endMonth();
    await noteAll();
    assert.equal((await told()).length, 1);
    await clock.pass(3 * DAY);
    await noteAll();
    const [, second] = await notices();
    assert.equal((second!.facts as { rootHash: string | null }).rootHash, null);
  });

  it('are not kept back by a wallet that fails for ever', async () => {
    const { db } = money;
    const [bad, good] = [await insertWallet(db, 500), await insertWallet(db, 500)] as [WalletRow, WalletRow];
    await db.raw(`alter table user_notices add constraint fails check (user_id <> '${bad.user_id}')`);
    await endMonth();
    await noteAll();
    assert.deepEqual(await told(), [[good.user_id, '2026-01']]);
    await credit(db, good.user_id, 1);
    await endMonth();
    await noteAll();
    assert.deepEqual((await told()).at(-1), [good.user_id, '2026-02']);
    await db.raw('alter table user_notices drop constraint fails');
    await db('stuck_items').update({ next_attempt_at: db.raw('clock_ms()') });
    await noteAll();
    assert.deepEqual((await told()).at(-1), [bad.user_id, '2026-01']);
  });

  it('of earlier months are not kept back by one of the last month that fails for ever', async () => {
    const { db } = money;
    const [late, bad] = [await insertWallet(db, 500), await insertWallet(db, 500)] as [WalletRow, WalletRow];
    const failFor = (users: readonly WalletRow[]) =>
      db.raw(
        `alter table user_notices drop constraint if exists fails,
           add constraint fails check (user_id not in (${users.map(({ user_id: id }) => `'${id}'`).join()})) not valid`,
      );
    await failFor([late, bad]);
    await endMonth();
    await noteAll();
    await credit(db, bad.user_id, 1);
    await endMonth();
    await noteAll();
    assert.deepEqual(await told(), []);
    await failFor([bad]);
    await db('stuck_items').update({ next_attempt_at: db.raw('clock_ms()') });
    await noteAll();
    assert.deepEqual(await told(), [[late.user_id, '2026-01']]);
    const months = db('statement_months').whereIn('month', ['2026-01', '2026-02']);
    const failed: number[][] = await months.pluck('failed_wallets');
    assert.deepEqual(failed, [[bad.id], [bad.id]]);
    await db.raw('alter table user_notices drop constraint fails');
    await db('stuck_items').update({ next_attempt_at: db.raw('clock_ms()') });
    for (let round = 0; round < 2; round++) await noteAll();
    assert.deepEqual((await told()).slice(1), [
      [bad.user_id, '2026-02'],
      [bad.user_id, '2026-01'],
    ]);
    assert.deepEqual(await db('statement_months').whereNull('done_at'), []);
  });
});
