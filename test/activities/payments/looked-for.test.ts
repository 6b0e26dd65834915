import assert from 'node:assert/strict';
import { lookedForFrom } from '../../../activities/payments/looked-for.js';
import { DAY, HOUR } from '../../../domain/durations.js';

describe('what was sent and is looked for at the processor', () => {
  it('is looked for from a day before it was sent by our clock', () => {
    const sentAt = new Date(Date.now() - 30 * HOUR);
    assert.deepEqual(lookedForFrom(sentAt), new Date(sentAt.getTime() - DAY));
  });

  it('is looked for from far back, where it lies ahead: nobody knows how long ago it was', () => {
    const beforeMs = Date.now();
    const fromMs = lookedForFrom(new Date(beforeMs + 3 * DAY)).getTime();
    assert.ok(fromMs >= beforeMs - 90 * DAY && fromMs <= Date.now() - 90 * DAY);
  });
});
