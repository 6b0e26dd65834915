import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withProgress } from '../../../lab/servers/progress.js';
import { findTemporalCli } from '../../../lab/servers/temporal-cli.js';

describe('the Temporal CLI', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-cli-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const place = (name: string, script = 'echo "temporal version 1.2.3"') => {
    const path = join(folder, name, 'temporal');
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const find = (explicit?: string) =>
    findTemporalCli({
      places: { explicit, searchPath: join(folder, 'path'), cacheDir: join(folder, 'cache') },
      log: () => undefined,
      mayFetch: false,
    });

  it('is the one of TEMPORAL_CLI_PATH before all others', async () => {
    place('path');
    const explicit = place('explicit');
    assert.equal(await find(explicit), explicit);
  });

  it('is not replaced by another when TEMPORAL_CLI_PATH is wrong', async () => {
    place('path');
    await assert.rejects(find(join(folder, 'missing')), /TEMPORAL_CLI_PATH is .*missing/);
  });

  it('is the one on the PATH before the one in the cache', async () => {
    const cached = place('cache');
    assert.equal(await find(), cached);
    const onPath = place('path');
    assert.equal(await find(), onPath);
  });

  it('is passed over when it does not run', async () => {
    place('path', 'exit 1');
    const cached = place('cache');
    assert.equal(await find(), cached);
  });

  it('that is nowhere is an error that says what to install or set', async () => {
    await assert.rejects(find(), /docs\.temporal\.io.*\n.*TEMPORAL_CLI_PATH.*TEMPORAL_ADDRESS/);
    assert.deepEqual(readdirSync(folder), []);
  });
});

describe('a long step', () => {
  it('is told to stop when its time is used up', async () => {
    const step = withProgress({ what: 'waiting', log: () => undefined, limitMs: 20 }, ({ signal }) => {
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('killed')));
      });
    });
    await assert.rejects(step, /waiting was given up after 0.02 s/);
  });

  it('fails with its own error when it fails by itself', async () => {
    const step = withProgress({ what: 'waiting', log: () => undefined, limitMs: 1000 }, () =>
      Promise.reject(new Error('broken')),
    );
    await assert.rejects(step, /broken/);
  });
});
