import assert from 'node:assert/strict';
import {
  checkSettings,
  manyRentals,
  type CheckedSettings,
} from '../../../domain/operations/database-check.js';

const MB = 2 ** 20;

const sized: CheckedSettings = {
  ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', autovacuum: 'on', track_counts: 'on' },
  ...{ sharedBuffersBytes: 4096 * MB, maxWalBytes: 16_384 * MB, checkpointTimeoutS: 900 },
  autovacuumCostLimit: 2000,
};
/** PostgreSQL 18 as it comes. */
const defaults: CheckedSettings = {
  ...sized,
  ...{ sharedBuffersBytes: 128 * MB, maxWalBytes: 1024 * MB, checkpointTimeoutS: 300 },
  autovacuumCostLimit: 200,
};

describe('checkSettings', () => {
  it('finds nothing where the server is sized, whatever the fleet', () => {
    assert.deepEqual(checkSettings(sized, 1_000_000), []);
    assert.deepEqual(checkSettings({ ...sized, synchronous_commit: 'remote_apply' }, 0), []);
  });

  it('takes the defaults for a small fleet, and names each of them for a large one', () => {
    assert.deepEqual(checkSettings(defaults, manyRentals - 1), []);
    const found = checkSettings(defaults, manyRentals);
    assert.deepEqual(
      found.map(({ setting, is, kind }) => [setting, is, kind]),
      [
        ['shared_buffers', '128MB', 'slow'],
        ['max_wal_size', '1024MB', 'slow'],
        ['checkpoint_timeout', '300s', 'slow'],
        ['autovacuum_vacuum_cost_limit', '200', 'slow'],
      ],
    );
  });

  it('finds what loses data or stops the server, with any fleet and before the rest', () => {
    for (const setting of [
      ...(['fsync', 'full_page_writes', 'synchronous_commit'] as const),
      ...(['autovacuum', 'track_counts'] as const),
    ]) {
      const [first, ...others] = checkSettings({ ...sized, [setting]: 'off' }, 0);
      assert.deepEqual([first?.setting, first?.kind, others], [setting, 'unsafe', []]);
    }
    assert.equal(checkSettings({ ...defaults, fsync: 'off' }, manyRentals)[0]?.setting, 'fsync');
  });
});
