import assert from 'node:assert/strict';
import { acknowledgeFinding } from '../../adapters/postgres/reconcile/findings.js';
import { beginRun, recordComparison } from '../../adapters/postgres/reconcile/runs.js';
import type { Finding } from '../../domain/operations/reconcile.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';

const finding: Finding = {
  ...{ kind: 'charge_without_entry', subject: 'pi_1', subjectIds: { userId: null } },
  evidence: { processor: { amountCents: 100 } },
};

describe('the rows of reconcile', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  const record = async (findings: Finding[], why: string | null = null): Promise<void> => {
    const { db } = database;
    const runId = await beginRun(db, 'window');
    await recordComparison(db, {
      runId,
      source: 'charges',
      scope: 'window',
      findings,
      until: new Date(),
      why,
    });
  };
  const states = async (): Promise<string[]> =>
    (await database.db('reconcile_findings').orderBy('id')).map(({ state }) => state);

  const refuses = (constraint: string, work: () => PromiseLike<unknown>): Promise<void> =>
    assert.rejects(
      async () => work(),
      (error: unknown) => (error as { constraint?: string }).constraint === constraint,
    );

  it('keep one finding per kind and subject while it stands, and a new one when it comes back', async () => {
    await record([finding, finding]);
    await record([finding]);
    assert.deepEqual(await states(), ['open']);
    await record([], 'unknown: no answer');
    assert.deepEqual(await states(), ['open'], 'what was not compared is not fine');
    await record([]);
    await record([finding]);
    assert.deepEqual(await states(), ['resolved', 'open']);
  });

  it('refuse a second one that stands, a resolution without its time, an acknowledgement by nobody', async () => {
    const { db } = database;
    const all = () => db('reconcile_findings');
    await refuses('reconcile_findings_standing', () => all().update({ state: 'open', resolved_at: null }));
    await refuses('reconcile_findings_resolved', () =>
      all().where({ state: 'open' }).update({ state: 'resolved' }),
    );
    await refuses('reconcile_findings_acknowledged', () =>
      all().where({ state: 'open' }).update({ state: 'acknowledged' }),
    );
    await refuses('reconcile_sources_check', () =>
      db('reconcile_sources').update({ failing_why: 'no time' }),
    );
  });

  it('acknowledge one that stands only', async () => {
    const { db } = database;
    const [resolved, open] = await db('reconcile_findings').orderBy('id');
    assert.equal(await acknowledgeFinding(db, resolved!.id, 'ada', 'known'), undefined);
    assert.equal((await acknowledgeFinding(db, open!.id, 'ada', 'known'))?.state, 'acknowledged');
    await record([finding]);
    assert.deepEqual(await states(), ['resolved', 'acknowledged']);
    await record([]);
    assert.deepEqual(await states(), ['resolved', 'resolved']);
  });
});
