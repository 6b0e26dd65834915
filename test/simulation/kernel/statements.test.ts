import assert from 'node:assert/strict';
import type pg from 'pg';
import { Chance } from './chance.js';
import { Kernel } from './kernel.js';
import { SimProcess } from './scope.js';
import { Statements } from './statements.js';
import { Trace } from './trace.js';

/** Looks after which the server has ended a session: more than the turns after which the kernel takes all to wait. */
const LOOKS = 5;

describe('the end of a process that has crashed', () => {
  it('lets nothing else happen before the server has ended its sessions', async () => {
    const kernel = new Kernel(new Chance(1, 'order'), new Trace(undefined, 0), 0);
    let looks = 0;
    const control = {
      query: (sql: string) => {
        if (sql.startsWith('select 1')) looks += 1;
        return Promise.resolve({ rows: looks < LOOKS ? [{}] : [] });
      },
    };
    const statements = new Statements(kernel, control as unknown as pg.Client, () => undefined);
    // Nobody waits for it, as for a worker that crashes while it begins.
    const forgotten = statements.forget(new SimProcess('worker-1', 'worker'));
    let seen: number | undefined;
    kernel.after(0, 'next', () => void (seen = looks));
    await kernel.run(1);
    await forgotten;
    assert.equal(seen, LOOKS);
  });

  it('is the end of whatever it waited for', async () => {
    const kernel = new Kernel(new Chance(1, 'order'), new Trace(undefined, 0), 0);
    const process = new SimProcess('worker-1', 'worker');
    let heard = 0;
    // A peer answers after the crash.
    kernel.after(
      1,
      'answers',
      () => void kernel.after(1, 'is heard', () => void (heard += 1), { scope: { process } }),
    );
    kernel.after(5, 'is heard before', () => void (heard += 1), { scope: { process } });
    process.isAlive = false;
    kernel.forget(process);
    await kernel.run(10);
    assert.equal(heard, 0);
  });
});
