import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sizeDatabase } from '../../../domain/operations/database-size.js';

const MB = 2 ** 20;
const GB = 2 ** 30;
const bytesOf = (setting: string | undefined): number => Number(/^(\d+)MB$/.exec(setting ?? '')?.[1]) * MB;

describe('sizeDatabase', () => {
  it('gives a machine of 24 GB that runs the rest of the stack too 4 GB of buffers and 16 GB of log', () => {
    assert.deepEqual(sizeDatabase({ memoryBytes: 24 * GB, cores: 2, freeBytes: 68 * GB, isAlone: false }), {
      shared_buffers: '4096MB',
      effective_cache_size: '12288MB',
      maintenance_work_mem: '768MB',
      max_wal_size: '16384MB',
      min_wal_size: '2048MB',
      checkpoint_timeout: '15min',
      max_parallel_workers: '2',
      autovacuum_naptime: '15s',
      autovacuum_vacuum_cost_limit: '2000',
      autovacuum_max_workers: '3',
    });
  });

  it('gives a quarter of its memory to the buffers of a server that is alone', () => {
    const sized = sizeDatabase({ memoryBytes: 16 * GB, cores: 32, freeBytes: 500 * GB, isAlone: true });
    assert.equal(sized['shared_buffers'], '4096MB');
    assert.equal(sized['effective_cache_size'], '12288MB');
    assert.equal(sized['max_parallel_workers'], '8');
    assert.equal(sized['autovacuum_max_workers'], '8');
  });

  it('keeps the log small where the disk has little room, and never below the default', () => {
    const withFree = (freeBytes: number) =>
      sizeDatabase({ memoryBytes: 8 * GB, cores: 4, freeBytes, isAlone: false })['max_wal_size'];
    assert.equal(withFree(10 * GB), '2560MB');
    assert.equal(withFree(100 * MB), '1024MB');
  });

  it('never takes more than a quarter of the memory, nor more of the disk than there is room for', () => {
    fc.assert(
      fc.property(
        fc.record({
          memoryBytes: fc.integer({ min: 64, max: 2 ** 22 }).map((count) => count * MB),
          cores: fc.integer({ min: 1, max: 256 }),
          freeBytes: fc.integer({ min: 5, max: 4_000 }).map((count) => count * GB),
          isAlone: fc.boolean(),
        }),
        (machine) => {
          const sized = sizeDatabase(machine);
          const buffers = bytesOf(sized['shared_buffers']);
          assert.ok(buffers > 0 && buffers <= machine.memoryBytes / 4, `${buffers} bytes of buffers`);
          assert.ok(buffers <= 8 * GB);
          assert.ok(bytesOf(sized['effective_cache_size']) < machine.memoryBytes);
          const log = bytesOf(sized['max_wal_size']);
          assert.ok(log >= GB && log <= machine.freeBytes / 4 + GB && log <= 16 * GB);
          assert.ok(bytesOf(sized['min_wal_size']) >= 80 * MB && bytesOf(sized['min_wal_size']) < log);
        },
      ),
    );
  });
});
