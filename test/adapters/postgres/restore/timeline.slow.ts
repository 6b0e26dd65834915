import assert from 'node:assert/strict';
import { pino } from 'pino';
import { openDatabase, type Database } from '../../../../adapters/postgres/database.js';
import { confirmDatabase, isDatabaseConfirmed } from '../../../../adapters/postgres/restore/watermark.js';
import { startWitness, type Witness } from '../../../../adapters/postgres/restore/witness.js';
import { startPair, type Pair } from '../../../support/servers/pair.js';
import { until } from '../../../support/until.js';

/** A primary and a standby of PostgreSQL; the watermark never rises, so that the timeline alone tells. */
describe('a standby that was promoted', function () {
  this.timeout(120_000);
  let pair: Pair;
  let db: Database;
  let witnesses: Witness[] = [];

  async function begin({ synchronous }: { synchronous: boolean }): Promise<void> {
    pair = await startPair({ synchronous });
    db = openDatabase(pair.url, 4, 'test-timeline');
    assert.equal(await confirmDatabase(db, 0), 'confirmed');
    await db('watermark').update({ value: 1, confirmed_as: db.raw('database_incarnation(tableoid)') });
  }
  afterEach(async () => {
    await Promise.all(witnesses.map((witness) => witness.stop()));
    witnesses = [];
    await db.destroy();
    await pair.stop();
  });

  async function witness(part: 'api' | 'worker', everyMs = 20): Promise<Witness> {
    const begun = startWitness({
      ...{ db, url: pair.url, part, everyMs },
      log: pino({ enabled: false }),
    });
    witnesses.push(begun);
    await until(
      'it has spoken',
      async () => (await db('witnesses').where({ part }).first('id')) !== undefined,
    );
    return begun;
  }

  const judge = () => confirmDatabase(db, 1).catch(() => 'away' as const);
  const judged = (wanted: 'confirmed' | 'restored') =>
    until(`it is ${wanted}`, async () => (await judge()) === wanted);
  const note = (text: string) =>
    db.transaction((trx) => trx('operator_notices').insert({ cause: text, subject: text, body: text }));

  it('is gone on with when every process says that it holds what it saw committed', async () => {
    await begin({ synchronous: true });
    await witness('worker');
    // This one goes on writing after the promotion before it speaks again.
    await witness('api', 1_500);
    const acknowledged: string[] = [];
    const writing = { ended: false };
    const writers = [1, 2, 3].map(async (writer) => {
      for (let turn = 0; !writing.ended; turn += 1) {
        const text = `${writer}-${turn}`;
        await note(text).then(
          () => acknowledged.push(text),
          () => undefined,
        );
      }
    });
    await until('much is written', () => Promise.resolve(acknowledged.length > 300));
    await pair.failOver();
    await judged('confirmed');
    writing.ended = true;
    await Promise.all(writers);
    assert.equal(await isDatabaseConfirmed(db), true);
    const there = new Set((await db('operator_notices').select('cause')).map(({ cause }) => cause));
    assert.deepEqual(
      acknowledged.filter((text) => !there.has(text)),
      [],
    );
    assert.equal((await db('witnesses').where({ misses: true })).length, 0);
  });

  it('counts as restored when one commit is lost that a process saw acknowledged', async () => {
    await begin({ synchronous: false });
    await witness('worker');
    await pair.cutOff();
    await note('lost');
    await pair.failOver();
    await judged('restored');
    assert.deepEqual(await db('operator_notices').where({ cause: 'lost' }), []);
    assert.equal((await db('brakes').first('kind'))?.kind, 'restored');
    assert.equal(await judge(), 'restored', 'whatever it says later');
  });

  it('counts as restored when a process that saw commits does not say so any more', async () => {
    await begin({ synchronous: false });
    await db.raw(`select * from bear_witness('gone', 'api', null, '{}', '{}', '{}')`);
    await pair.caughtUp();
    await pair.failOver();
    assert.equal(
      await until('it is away no more', async () => (await judge()) !== 'away' && judge()),
      'unproven',
    );
    assert.equal(await isDatabaseConfirmed(db), false);
    await db('watermark').update({ doubted_at: db.raw(`clock_ms() - interval '11 s'`) });
    await judged('restored');
  });

  it('takes writes alone: the old primary is a standby for ever, whoever starts it', async () => {
    await begin({ synchronous: false });
    await pair.failOver();
    const old = await pair.reviveOld();
    const direct = openDatabase(old.url, 1, 'test-old');
    const error: unknown = await direct('watermark')
      .update({ value: 9 })
      .catch((fault: unknown) => fault);
    await direct.destroy();
    assert.equal((error as { code?: string }).code, '25006');
    await judged('confirmed');
    await db.transaction((trx) => trx('watermark').update({ value: 2 }));
  });
});
