import assert from 'node:assert/strict';
import { clearDocuments } from '../../../adapters/postgres/reconcile/documents.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';

/** The rows of one statement that PostgreSQL has time for in this test. */
const MOST = 5_000;

describe('reconcile, of the documents that a run leaves', () => {
  let activities: LoneActivities;
  before(async () => {
    activities = await startActivities();
    // What its statement_timeout does to a statement of more rows, without the time.
    await activities.db.raw(
      `create table most_rows as select ${MOST} as most;
       create function hold_to_time() returns trigger language plpgsql security definer as $$ begin
         if (select count(*) from gone) > (select most from most_rows) then
           raise 'canceling statement due to statement timeout' using errcode = '57014';
         end if;
         return null;
       end $$;
       create trigger hold_to_time after delete on reconcile_documents
         referencing old table as gone for each statement execute function hold_to_time()`,
    );
  });
  after(() => activities.close());
  beforeEach(async () => {
    await activities.db('most_rows').update({ most: MOST });
    await activities.db.raw('truncate reconcile_documents');
  });

  /** Adds documents of a run. @param ageHours since the run began */
  async function leave(documents: number, ageHours: number): Promise<void> {
    await activities.db.raw(
      `with run as (
         insert into reconcile_runs (scope, started_at)
         values ('full', clock_ms() - make_interval(hours => :ageHours)) returning id
       )
       insert into reconcile_documents (run_id, kind, id, status)
       select run.id, 'charge', 'ch_' || n, 'succeeded' from run, generate_series(1, :documents::int) n`,
      { documents, ageHours },
    );
  }
  /** A whole run that compares the ledger. */
  async function compare(): Promise<number> {
    const { runId, sources } = await activities.run('beginReconcile', 'window');
    const input = { runId, source: 'ledger', scope: 'window', graceMs: 0, confirmMs: 1 } as const;
    assert.equal((await activities.run('compareSource', input)).why, null);
    await leaveMore(runId);
    const report = await activities.run('finishReconcile', runId, sources);
    assert.equal(report.runId, runId);
    assert.ok((await activities.db('reconcile_runs').where({ id: runId }).first())!.finished_at);
    return runId;
  }
  const leaveMore = (runId: number) =>
    activities.db('reconcile_documents').insert({ run_id: runId, kind: 'refund', id: 're_1', status: 'x' });
  const left = async (): Promise<number[]> =>
    (await activities.db('reconcile_documents').distinct('run_id')).map(({ run_id }) => run_id);

  it('removes batch by batch its own, and those of runs that crashed a day ago', async () => {
    await leave(2 * MOST + 1, 25);
    await leave(1, 1);
    const [, younger] = (await activities.db('reconcile_runs').orderBy('id').select('id')).map(
      ({ id }) => id,
    );
    await compare();
    assert.deepEqual(await left(), [younger]);
  });

  it('compares, finishes and keeps a note for operators while nothing can be removed', async () => {
    await leave(1, 25);
    await activities.db('most_rows').update({ most: 0 });
    const runId = await compare();
    assert.equal((await left()).length, 2);
    const stuck = await activities.db('stuck_items').where({ duty: 'upkeep' });
    assert.deepEqual(
      stuck.map(({ item }) => item),
      ['documents of reconcile'],
    );
    await activities.db('most_rows').update({ most: MOST });
    assert.ok((await compare()) > runId);
    assert.deepEqual(await activities.db('stuck_items'), []);
  });

  it('forgets batch by batch what an earlier try of a run has read, and tells of each', async () => {
    await leave(2 * MOST + 1, 0);
    const { id: runId } = (await activities.db('reconcile_runs').orderBy('id', 'desc').first('id'))!;
    await leaveMore(runId);
    const told: number[] = [];
    const look = { runId, tell: ({ removed }: { removed: number }) => void told.push(removed) };
    await clearDocuments(activities.db, look, ['charge']);
    assert.deepEqual(told, [MOST, 2 * MOST, 2 * MOST + 1]);
    assert.deepEqual(await activities.db('reconcile_documents').pluck('kind'), ['refund']);
  });
});
