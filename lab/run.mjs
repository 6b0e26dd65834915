// Runs a program of this project: node lab/run.mjs lab/main.ts. A compiler is loaded only where its sources have changed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [entry = ''] = process.argv.splice(2, 1);
process.setSourceMapsEnabled(true);
const file = (await findKept()) ?? (await build());
await import(pathToFileURL(file).href);

/** The kept build knows by itself whether it is that of the present sources, its own among them. */
async function findKept() {
  const folder = fileURLToPath(new URL('../node_modules/.cache/gpu-rental-programs', import.meta.url));
  try {
    const { name } = JSON.parse(readFileSync(join(folder, 'newest.json'), 'utf8'));
    const kept = await import(pathToFileURL(join(folder, name, 'lab/programs/built.mjs')).href);
    // A copied checkout brings the build of its original, which names the original's folder.
    const projectDir = fileURLToPath(new URL('..', import.meta.url));
    return kept.keptProgram(entry, { ...kept.ourPrograms, projectDir });
  } catch {
    return undefined;
  }
}

async function build() {
  const { tsImport, register } = await import('tsx/esm/api');
  const { argsToRun } = await tsImport('./programs/built.ts', import.meta.url);
  const args = await argsToRun(entry);
  if (args.includes('tsx')) register();
  return args.at(-1);
}
