import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeStackData } from '../../lab/stack/data.js';
import { findStackPorts } from '../../lab/stack/ports.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { parts } from '../../tools/demo/story.js';

describe('npm run demo -- --dialect', function () {
  this.timeout(400_000);

  // Shadeform's is the one that the demo tells by itself (demo.slow.ts).
  for (const dialect of Object.keys(parts).filter((each) => each !== 'shadeform')) {
    it(`${dialect} plays the whole story, from the sign-in to the last cent`, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), `gpu-rental-demo-${dialect}-`));
      // When root runs the tests, the postgres user needs access through this folder to its own below.
      chmodSync(dataDir, 0o711);
      const outside = { DATABASE_URL: '', TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' };
      const env = { ...process.env, ...(await findStackPorts()), LAB_DATA_DIR: dataDir, ...outside };
      const settings = readStackSettings(env);
      const child = spawn(process.execPath, ['lab/run.mjs', 'tools/demo/main.ts', '--dialect', dialect], {
        cwd: settings.projectDir,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 390_000,
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
      }
      await once(child, 'close');
      removeStackData(settings);
      rmSync(dataDir, { recursive: true, force: true });
      assert.equal(child.exitCode, 0, output);
      assert.match(output, /All of it held\.\n/);
      assert.match(output, new RegExp(`Rent ${parts[dialect]!.wish.words}`));
    });
  }
});
