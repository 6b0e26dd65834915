import assert from 'node:assert/strict';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Person } from '../../clients/cli/support/person.js';

describe('the idle guard of the mock, by the command', () => {
  let mock: MockServer;
  let ann: Person;
  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 200, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(20);
  });
  after(() => mock.stop());

  it('is asked for, shown, put off and taken away', async () => {
    const refused = await ann.run(['quote', 'rtx-4090', '--stop-when-idle', '30m']);
    assert.match(refused.err, /can’t tell who is logged in;\s+--ignore-sessions lets it\s+ignore that\./);
    await ann.rent('rtx-4090 --name box --stop-when-idle 30m --ignore-sessions');
    assert.match((await ann.run(['show', 'box'])).out, /Ends +once it is idle for 30 min/);
    const kept = await ann.run(['keep-alive', 'box', '--for', '2h']);
    assert.match(kept.out, /^\w{6} does not stop for being idle before 20\d\d-\d\d-\d\d \d\d:\d\d\.\n$/);
    const far = await ann.run(['keep-alive', 'box', '--for', '2d']);
    assert.match(far.err, /--until must be .* a day ahead at most/);
    const past = await ann.run(['keep-alive', 'box', '--until', '2020-01-01T00:00Z']);
    assert.match(past.err, /must be in the future/);
    const extended = await ann.run(['extend', 'box', '--no-stop-when-idle']);
    assert.match(extended.out, /now stops when you stop it or your balance runs out/);
    const none = await ann.run(['keep-alive', 'box', '--for', '2h']);
    assert.match(none.err, /has no idle guard/);
    assert.match((await ann.run(['keep-alive', 'box'])).err, /Say how long, by --for or --until/);
  });
});
