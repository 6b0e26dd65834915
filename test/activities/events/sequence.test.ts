import assert from 'node:assert/strict';
import pino from 'pino';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createEventActivities } from '../../../activities/events/sequence.js';
import { newId } from '../../../adapters/ids.js';
import { recordEvent } from '../../../adapters/postgres/events/outbox.js';
import { confirmDatabase } from '../../../adapters/postgres/restore/watermark.js';
import { watermarkMemo } from '../../../workflows/contracts/watermark.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runAlone } from '../../support/service/activity-context.js';
import { until } from '../../support/until.js';

/** The watermark that Temporal holds. */
const KEPT = 60;

describe('runSequencer', () => {
  let money: MoneyDatabase;
  before(async () => {
    money = await openMoneyDatabase();
  });
  after(() => money.close());

  function sequencing() {
    const handle = { describe: () => Promise.resolve({ memo: { [watermarkMemo]: KEPT } }) };
    const deps = {
      ...{ db: money.db, log: pino({ level: 'silent' }), settings: {} },
      temporal: { workflow: { getHandle: () => handle } },
    } as unknown as ActivityDeps;
    return runAlone(() => createEventActivities(deps).runSequencer(60_000));
  }

  const tell = () =>
    recordEvent(money.db, {
      type: 'ssh_key.added',
      userId: newId('usr'),
      entityId: newId('key'),
      data: { fingerprint: 'SHA256:0' },
    });

  async function numbered(): Promise<number> {
    const rows = await money.db('events').count<{ count: number }[]>('* as count');
    return Number(rows[0]?.count);
  }

  it('numbers nothing while the database is behind: lost numbers would be given again', async () => {
    assert.equal(await confirmDatabase(money.db, KEPT), 'restored');
    await tell();
    await assert.rejects(sequencing().result, { type: 'database_restored' });
    assert.equal(await numbered(), 0);
  });

  it('numbers what waits and what comes, and tells its progress', async () => {
    await money.db('watermark').update({ value: KEPT });
    assert.equal(await confirmDatabase(money.db, KEPT), 'confirmed');
    const running = sequencing();
    await until('the event that waited is numbered', async () => (await numbered()) === 1);
    await tell();
    await until('the new one is numbered', async () => (await numbered()) === 2);
    await until('it told of both', () =>
      running.beats.some((beat) => JSON.stringify(beat) === '{"sequenced":2}'),
    );
    running.cancel();
    await assert.rejects(running.result, { name: 'CancelledFailure' });
  });
});
