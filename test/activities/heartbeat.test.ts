import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { withHeartbeat } from '../../activities/heartbeat.js';
import { runAlone } from '../support/service/activity-context.js';

const never = new Promise<never>(() => undefined);

describe('withHeartbeat', () => {
  it('beats while the work gets on, and gives its result', async () => {
    const { result, beats } = runAlone(() =>
      withHeartbeat(
        async (tell) => {
          for (let step = 1; step <= 4; step += 1) {
            await sleep(60);
            tell({ step });
          }
          return 'done';
        },
        { stalledAfterMs: 20_000, everyMs: 20 },
      ),
    );
    assert.equal(await result, 'done');
    assert.deepEqual(beats.at(-1), { step: 4 });
    assert.ok(beats.length > 4, 'also between two steps');
  });

  it('ends work that stalls, and beats for it no more', async () => {
    const { result, beats } = runAlone(() =>
      withHeartbeat(
        (tell) => {
          tell({ row: 7 });
          return never;
        },
        { stalledAfterMs: 100, everyMs: 20 },
      ),
    );
    await assert.rejects(result, { type: 'no_progress', nonRetryable: false, message: /100 ms.*"row":7/ });
    const sent = beats.length;
    assert.ok(sent <= 6, `${sent} beats in five steps of time`);
    await sleep(60);
    assert.equal(beats.length, sent);
  });

  it('lets work that was given up do nothing more than to its next word', async () => {
    let steps = 0;
    const { result } = runAlone(() =>
      withHeartbeat(
        async (tell) => {
          for (;;) {
            await sleep(150);
            tell({ step: (steps += 1) });
          }
        },
        { stalledAfterMs: 60, everyMs: 20 },
      ),
    );
    await assert.rejects(result, { type: 'no_progress' });
    const counted = steps;
    await sleep(400);
    assert.ok(steps <= counted + 1, `${steps - counted} more steps`);
  });

  it('passes a failure of the work on', async () => {
    const { result } = runAlone(() =>
      withHeartbeat(() => Promise.reject(new Error('the work’s own')), { stalledAfterMs: 1_000 }),
    );
    await assert.rejects(result, /the work’s own/);
  });
});
