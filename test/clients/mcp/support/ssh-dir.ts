import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newRenterKey } from '../../../lab/provider/living-lab.js';

/** A folder with the key pair by which this computer enters machines, for one test file. */
export function makeSshDir(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'gpu-rental-mcp-'));
  const { pem, line } = newRenterKey();
  writeFileSync(join(path, 'id'), pem, { mode: 0o600 });
  writeFileSync(join(path, 'id.pub'), `${line}\n`);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
