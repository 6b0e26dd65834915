import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { keptBundle } from '../../worker/kept-bundle.js';

describe('the kept bundle of the workflows', () => {
  let root: string;
  let made: number;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kept-bundle-'));
    made = 0;
    write('workflows/rental.ts', 'one');
    write('domain/deep/rule.ts', 'two');
    write('worker/bundle.ts', 'three');
  });
  afterEach(() => {
    chmodSync(root, 0o755);
    rmSync(root, { recursive: true });
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  const folder = () => join(root, 'kept');
  const get = (versions = ['20'], into = folder()) =>
    keptBundle(
      { root, sources: ['workflows', 'domain', 'worker/bundle.ts'], ending: '.ts', versions, folder: into },
      () => {
        made += 1;
        return Promise.resolve({ code: `made ${made}`, sourceMap: '' });
      },
    );

  it('is made once of the same sources, however new they look', async () => {
    const first = await get();
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(root, 'workflows/rental.ts'), later, later);
    write('workflows/notes.md', 'not bundled');
    assert.deepEqual(await get(), first);
    assert.equal(made, 1);
  });

  it('is made anew when any source, or a version, has changed, and takes the place of the former', async () => {
    await get();
    for (const [path, text] of [
      ['workflows/rental.ts', 'on'],
      ['domain/deep/rule.ts', 'two!'],
      ['domain/deep/more.ts', ''],
      ['worker/bundle.ts', 'four'],
    ] as const) {
      write(path, text);
      const before = made;
      assert.deepEqual(await get(), { code: `made ${before + 1}`, sourceMap: '' }, path);
    }
    await get(['22']);
    assert.equal(made, 6);
    assert.equal(readdirSync(folder()).length, 1);
  });

  it('is made at each start where it can’t be kept, or what was kept is broken', async () => {
    write('a-file', 'and no folder');
    await get(['20'], join(root, 'a-file'));
    await get(['20'], join(root, 'a-file'));
    assert.equal(made, 2);
    await get();
    for (const name of readdirSync(folder())) writeFileSync(join(folder(), name), '{"code":');
    assert.equal((await get()).code, 'made 4');
  });
});
