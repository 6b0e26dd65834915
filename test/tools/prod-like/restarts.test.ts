import assert from 'node:assert/strict';
import { readPlays } from '../../../tools/prod-like/restarts.js';

describe('what test:prod-like plays', () => {
  it('restarts every part, in order and by a kill, more than twenty times in all', () => {
    const [play, ...others] = readPlays(undefined, undefined);
    assert.deepEqual([play?.from, others], [undefined, []]);
    assert.ok(play!.restarts.length >= 20);
    const parts = ['API 1', 'API 2', 'worker 1', 'worker 2', 'listener', 'Temporal'];
    for (const part of parts) {
      for (const how of ['stop', 'kill']) {
        assert.equal(play!.restarts.filter(([name, by]) => name === part && by === how).length, 2, part);
      }
    }
    assert.equal(play!.restarts.filter(([name]) => name === 'primary').length, 2);
  });

  it('upgrades from each commit that is named, one process at a time, the schema and the workers first', () => {
    const plays = readPlays(undefined, 'old,older');
    assert.deepEqual(
      plays.map(({ from }) => from),
      ['old', 'older'],
    );
    assert.deepEqual(
      plays[0]?.restarts.map(([name]) => name),
      ['schema', 'worker 1', 'worker 2', 'API 1', 'API 2'],
    );
  });

  it('does both where both are asked for, and says what it knows where it knows none of that name', () => {
    const plays = readPlays('primary:kill', 'old');
    assert.deepEqual(
      plays.map(({ restarts, from }) => [from, restarts.length]),
      [
        [undefined, 1],
        ['old', 5],
      ],
    );
    assert.throws(() => readPlays('worker 3:kill', undefined), /names "worker 3:kill".*worker 1:kill/);
  });
});
