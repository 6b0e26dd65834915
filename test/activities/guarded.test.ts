import assert from 'node:assert/strict';
import pino from 'pino';
import type { ActivityDeps } from '../../activities/deps.js';
import { guarded } from '../../activities/guarded.js';
import { confirmDatabase } from '../../adapters/postgres/restore/watermark.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import { watermarkMemo } from '../../workflows/contracts/watermark.js';
import { openMoneyDatabase, type MoneyDatabase } from '../support/money/money.js';
import { runAlone } from '../support/service/activity-context.js';

/** The watermark that Temporal holds. */
const KEPT = 60;

describe('guarded', () => {
  let money: MoneyDatabase;
  let deps: ActivityDeps;
  before(async () => {
    money = await openMoneyDatabase();
    const handle = { describe: () => Promise.resolve({ memo: { [watermarkMemo]: KEPT } }) };
    const temporal = { workflow: { getHandle: () => handle } };
    deps = { db: money.db, log: pino({ level: 'silent' }), temporal } as unknown as ActivityDeps;
  });
  after(() => money.close());

  const done = (): Promise<string> => Promise.resolve('done');
  const fails = (): Promise<string> => Promise.reject(new Error('it fails'));
  const look = (): Promise<EventLook> => Promise.resolve({ state: 'closed', status: 'ok', summary: 'ok' });

  it('asks first, unless the policy says never, and answers whose caller waits', async () => {
    assert.equal(await confirmDatabase(money.db, KEPT), 'restored');
    const { waits, answers, goes } = guarded(
      deps,
      { waits: done, answers: done, goes: done },
      { waits: 'asksFirst', answers: 'answersCaller', goes: 'neverAsks' },
    );
    await assert.rejects(runAlone(waits).result, { type: 'database_restored', nonRetryable: false });
    await assert.rejects(runAlone(answers).result, { type: 'temporarily_unavailable', nonRetryable: true });
    assert.equal(await runAlone(goes).result, 'done');
  });

  it('counts a rental’s look as its workflow’s, and a step by its name', async () => {
    await money.db('watermark').update({ value: KEPT });
    assert.equal(await confirmDatabase(money.db, KEPT), 'confirmed');
    const { looks, steps } = guarded(
      deps,
      { looks: fails, steps: fails },
      { looks: 'looksAtRental', steps: 'stepsRental' },
    );
    await assert.rejects(runAlone(looks).result, /it fails/);
    await assert.rejects(runAlone(steps).result, /it fails/);
    assert.deepEqual(await money.db('stuck_items').select('duty', 'item').orderBy('duty'), [
      { duty: 'step', item: 'none steps' },
      { duty: 'workflow', item: 'none' },
    ]);
  });

  it('ends by a step that holds a look what was counted as its workflow’s failures', async () => {
    await money.db('stuck_items').delete();
    const { looks, steps } = guarded(
      deps,
      { looks: fails, steps: done },
      { looks: 'looksAtRental', steps: 'looksAndStepsRental' },
    );
    await assert.rejects(runAlone(looks).result, /it fails/);
    assert.deepEqual(await money.db('stuck_items').select('duty', 'item'), [
      { duty: 'workflow', item: 'none' },
    ]);
    assert.equal(await runAlone(steps).result, 'done');
    assert.deepEqual(await money.db('stuck_items').select('duty', 'item'), []);
  });

  it('does not compile when a name has no policy, a policy no name, or a look at events another one', () => {
    const two = { one: done, other: done };
    // @ts-expect-error: `other` has no policy
    const forgetful = () => guarded(deps, two, { one: 'asksFirst' });
    assert.throws(forgetful, /other has no policy/);
    // @ts-expect-error: nothing is called `renamed`
    guarded(deps, { one: done }, { one: 'asksFirst', renamed: 'neverAsks' });
    // @ts-expect-error: an activity that answers with a look at events must be guarded as one
    guarded(deps, { look }, { look: 'asksFirst' });
    // @ts-expect-error: this answers with none
    guarded(deps, { one: done }, { one: 'looksAtEvents' });
  });
});
