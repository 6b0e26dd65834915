import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const client = new URL('../../../clients/typescript/', import.meta.url);
const GZIPPED_MAX_BYTES = 15 * 1_024;

describe('the typed client as a page loads it', () => {
  it('needs nothing of Node, nothing but openapi-fetch, and little space', async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [new URL('src/index.ts', client).pathname],
      bundle: true,
      minify: true,
      // What only Node has can't be resolved, and is a fault.
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    const packages = Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/([^/]+)/.exec(path)?.[1] ?? [],
    );
    assert.deepEqual(new Set(packages), new Set(['openapi-fetch']));
    const [{ contents } = { contents: new Uint8Array() }] = outputFiles;
    const size = gzipSync(contents).length;
    assert.ok(size > 1_000 && size < GZIPPED_MAX_BYTES, `${size} bytes gzipped`);
  });

  it('depends on nothing else', () => {
    const { dependencies } = JSON.parse(readFileSync(new URL('package.json', client), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    assert.deepEqual(Object.keys(dependencies), ['openapi-fetch']);
  });
});
