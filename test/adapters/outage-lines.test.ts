import assert from 'node:assert/strict';
import { createLog } from '../../adapters/log.js';
import { countOutageLines, isOutage } from '../../adapters/outage-lines.js';

describe('the log of an outage', () => {
  const unavailable = (): Error =>
    new Error('it failed', { cause: Object.assign(new Error('14 UNAVAILABLE'), { code: 14 }) });

  it('has one line of each kind, not one for each request', () => {
    const written: { msg: string; no?: number }[] = [];
    const destination = { write: (line: string) => void written.push(JSON.parse(line) as { msg: string }) };
    const log = createLog({ level: 'info', service: 'test', destination });
    for (let no = 0; no < 2_700; no += 1) {
      log.warn({ err: unavailable(), no }, 'no answer from the workflow yet');
      log.warn({ sdkComponent: 'core' }, `gRPC call poll_activity_task_queue retried ${no} times`);
      if (no < 3) log.error({ err: new TypeError('a fault of ours'), no }, 'request failed');
      if (no < 3) log.info({ no }, 'request');
    }
    assert.deepEqual(
      written.map(({ msg }) => msg),
      [
        'no answer from the workflow yet',
        'gRPC call poll_activity_task_queue retried 0 times',
        ...['request failed', 'request', 'request failed', 'request', 'request failed', 'request'],
      ],
    );
  });

  it('tells each minute how many lines were left out', () => {
    const clock = { ms: 0 };
    const count = countOutageLines(() => clock.ms);
    assert.deepEqual([count('a'), count('a'), count('b'), count('a')], [0, undefined, 0, undefined]);
    clock.ms = 60_000;
    assert.deepEqual([count('a'), count('a'), count('b')], [2, undefined, 0]);
  });

  it('is known by what the peer or the network says', () => {
    assert.ok(isOutage(unavailable()));
    assert.ok(isOutage(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })));
    assert.ok(!isOutage(Object.assign(new Error('duplicate'), { code: '23505' })));
    assert.ok(!isOutage(undefined));
  });
});
