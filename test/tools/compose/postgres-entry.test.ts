import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { postgresEntry } from '../../../tools/compose/images.js';

describe('the stand-in for the image of PostgreSQL', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-entry-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'PG_VERSION'), '18\n');
    writeFileSync(join(folder, 'entry.sh'), postgresEntry, { mode: 0o755 });
    // It knows pglz alone, and tells what it was started with.
    const program = `#!/bin/sh
case "$*" in
  *--wal_compression=pglz*' -C '*) exit 0 ;;
  *' -C '*) exit 1 ;;
esac
echo "$@"
`;
    writeFileSync(join(folder, 'postgres'), program, { mode: 0o755 });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** @returns the settings that the server was started with */
  function start(...command: string[]): string[] {
    const { status, stdout, stderr } = spawnSync(join(folder, 'entry.sh'), command, {
      env: { PATH: `${folder}:/usr/bin:/bin`, PGDATA: join(folder, 'data') },
      encoding: 'utf8',
      timeout: 30_000,
    });
    assert.equal(status, 0, stderr);
    return stdout.split(/\s+/).filter((word) => word.startsWith('--'));
  }

  it('hands on the settings of the file’s command, and starts without one', () => {
    assert.deepEqual(start('postgres', '--shared_buffers=512MB', '--max_wal_size=4096MB'), [
      '--shared_buffers=512MB',
      '--max_wal_size=4096MB',
    ]);
    assert.deepEqual(start(), []);
  });

  it('leaves out a compression that this build lacks', () => {
    assert.deepEqual(start('postgres', '--wal_compression=lz4', '--shared_buffers=1MB'), [
      '--shared_buffers=1MB',
    ]);
    assert.deepEqual(start('postgres', '--wal_compression=pglz'), ['--wal_compression=pglz']);
  });
});
