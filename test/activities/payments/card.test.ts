import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { SavedCardRow } from '../../../adapters/postgres/rows/tables.js';
import type { Card } from '../../../adapters/processor/processor.js';
import type { UserId } from '../../../domain/ids.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertUser } from '../../support/money/factories.js';

describe('lookAtCard', () => {
  let lone: LoneActivities;
  let pmId: string;
  let customerId: string;
  let owner: UserId;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(async () => {
    lone.processor.reset();
    pmId = `pm_${newId('top')}`;
    customerId = `cus_${pmId}`;
    owner = (await insertUser(lone.db, { processor_customer_id: customerId })).id;
    shows({});
  });
  after(() => lone.close());

  /** The processor shows the card so. */
  function shows(columns: Partial<Card>): void {
    const shown = { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2099, fingerprint: `fp_${pmId}` };
    const card = { cardId: pmId, customerId, keptByConsent: false, ...shown, ...columns };
    lone.processor.answers = {
      getCard: () => Promise.resolve(card),
      detachCard: () => Promise.resolve(),
    };
  }

  async function tell(kind: string, userId: UserId = owner): Promise<void> {
    const no = (await lone.db('processor_events').where({ workflow_id: pmId })).length;
    await lone.db('processor_events').insert({
      ...{ id: `evt_${no}_${pmId}`, kind, livemode: false, workflow_id: pmId, workflow_type: 'card' },
      created_at: new Date(Date.now() + no * 1_000),
      object: { object: 'setup_intent', payment_method: pmId, metadata: { user_id: userId } },
    });
  }

  /** Looks at the card after an event about it. @returns its rows */
  async function look(kind = 'setup_intent.succeeded', userId = owner): Promise<SavedCardRow[]> {
    await tell(kind, userId);
    await lone.run('lookAtCard', pmId);
    return lone.db('saved_cards').where({ pm_id: pmId });
  }

  it('saves a card for its owner although an earlier setup names somebody else', async () => {
    const other = await insertUser(lone.db, { processor_customer_id: `${customerId}_other` });
    await tell('setup_intent.succeeded', other.id);
    assert.deepEqual(
      (await look()).map(({ user_id }) => user_id),
      [owner],
    );
  });

  it('saves a card once for an event that comes twice', async () => {
    await look();
    assert.equal((await look()).length, 1);
  });

  it('does not bring back a card that was removed before its event came again, and detaches it', async () => {
    await look();
    const removed = { removed_at: new Date(), removed_why: 'user' as const };
    await lone.db('saved_cards').where({ pm_id: pmId }).update(removed);
    const [row] = await look();
    assert.deepEqual([row?.removed_at === null, row?.detached_at === null], [false, false]);
    assert.deepEqual(lone.processor.argsOf('detachCard'), [pmId]);
  });

  it('saves nobody’s card: its metadata names a user who does not exist', async () => {
    assert.deepEqual(await look('setup_intent.succeeded', newId('usr')), []);
  });

  it('forgets a card that was detached at the processor', async () => {
    await look();
    shows({ customerId: null });
    const [row] = await look('payment_method.detached');
    assert.equal(row?.removed_why, 'detached');
  });

  it('takes over the new date of a card that its bank renewed', async () => {
    await look();
    shows({ expYear: 2103 });
    const [row] = await look('payment_method.automatically_updated');
    assert.equal(row?.exp_year, 2103);
  });
});
