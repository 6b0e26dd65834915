import assert from 'node:assert/strict';
import { pino } from 'pino';
import { watchDependencies } from '../../../adapters/metrics/dependencies.js';
import { createRegistry } from '../../../adapters/metrics/registry.js';
import { readMetrics } from '../../support/http/metrics.js';
import { until } from '../../support/until.js';

describe('the dependencies of a process', () => {
  it('are asked by the process itself; each change is one line, however long it lasts', async () => {
    const lines: { msg: string; level: number }[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) });
    const registry = createRegistry('api');
    const peer = { isAway: false, asked: 0 };
    const stop = watchDependencies(
      registry,
      log,
      {
        temporal: () => {
          peer.asked += 1;
          // A single answer that is late is no outage.
          return peer.isAway || peer.asked === 3
            ? Promise.reject(new Error('nobody answers'))
            : Promise.resolve();
        },
        postgres: () => Promise.resolve(),
      },
      1,
    );
    const shown = async (dependency: string) =>
      readMetrics(await registry.metrics()).get('gpu_rental_dependency_up', { dependency });
    await until(
      'both are seen',
      async () => (await shown('temporal')) === 1 && (await shown('postgres')) === 1,
    );
    await until('one answer was late', () => Promise.resolve(peer.asked > 4));
    peer.isAway = true;
    await until('it is seen to be away', async () => (await shown('temporal')) === 0);
    const { asked } = peer;
    await until('it is asked again', () => Promise.resolve(peer.asked > asked + 5));
    assert.equal(await shown('postgres'), 1);
    peer.isAway = false;
    await until('it is back', async () => (await shown('temporal')) === 1);
    stop();
    assert.deepEqual(
      lines.map(({ msg, level }) => [level, msg]),
      [
        [50, 'temporal does not answer: see docs/operations/alerts.md'],
        [30, 'temporal answers again'],
      ],
    );
  });
});
