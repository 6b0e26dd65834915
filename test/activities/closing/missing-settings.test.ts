import assert from 'node:assert/strict';
import { insertClosing } from '../../../adapters/postgres/accounts/closings.js';
import { installationKey } from '../../support/activities/closing-world.js';
import { startActivities } from '../../support/activities/lone-activities.js';
import { insertUser } from '../../support/money/factories.js';

describe('an account that closes where a setting is missing', () => {
  it('waits for a key when what it leaves would not be recognized', async () => {
    const keyless = await startActivities();
    try {
      const user = await insertUser(keyless.db, { blocked_at: new Date(), blocked_reason: 'fraud' });
      await insertClosing(keyless.db, user.id);
      const seen = await keyless.run('lookAtClosing', user.id);
      assert.equal(seen.status, 'erasing');
      assert.equal((await keyless.db('users').where({ id: user.id }).first())?.email, user.email);
    } finally {
      await keyless.close();
    }
  });

  it('waits for billing to be on again where the processor has a customer, and keeps its id', async () => {
    const unbilled = await startActivities({ billing: false, settings: { installationKey } });
    try {
      const user = await insertUser(unbilled.db, { processor_customer_id: 'cus_left' });
      await insertClosing(unbilled.db, user.id);
      const { summary } = await unbilled.run('lookAtClosing', user.id);
      assert.equal(summary, 'erasing: waits for processor');
      assert.deepEqual(await unbilled.db('users').where({ id: user.id }).first(), user);
      assert.match((await unbilled.db('operator_notices').first())?.body ?? '', /STRIPE_SECRET_KEY/);
    } finally {
      await unbilled.close();
    }
  });
});
