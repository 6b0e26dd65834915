import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Less does not fill a packet. */
const SMALLEST_BYTES = 1_024;

/** Writes what is sent beside each file of the build: the same by brotli and gzip, as small as they make it. */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const files = Object.values(bundle).map((made) => ({
        path: join(dir, made.fileName),
        bytes: Buffer.from(made.type === 'chunk' ? made.code : made.source),
      }));
      await Promise.all(files.filter(({ bytes }) => bytes.length >= SMALLEST_BYTES).map(compress));
    },
  };
}

async function compress({ path, bytes }: { readonly path: string; readonly bytes: Buffer }): Promise<void> {
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(bytes, {
      params: { ...quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
    promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, zipped)]);
}
