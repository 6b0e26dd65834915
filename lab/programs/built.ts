import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { hashOfContents } from '../../adapters/hash-of-files.js';

/** What is built of a project's TypeScript, and where it is kept. */
export interface ProgramSources {
  /** Absolute. */
  readonly projectDir: string;
  /** The programs' files, below the project's folder. */
  readonly entries: readonly string[];
  /** The folder of the builds in node_modules/.cache; default: that of `npm start`. */
  readonly cacheName?: string;
  /** The file of settings whose paths hold, below the project's folder; default: what esbuild finds. */
  readonly tsconfig?: string;
}

/** The programs that `npm start` and `npm run demo` run. */
export const ourPrograms: ProgramSources = {
  projectDir: fileURLToPath(new URL('../..', import.meta.url)),
  entries: [
    ...['lab/main.ts', 'tools/demo/main.ts', 'api/index.ts', 'worker/index.ts'],
    'listener/index.ts',
    ...['lab/provider/main.ts', 'lab/processor/main.ts', 'lab/mail/main.ts', 'clients/cli/src/main.ts'],
    // So that the next start finds its build without a compiler (lab/run.mjs).
    'lab/programs/built.ts',
  ],
};

/** What the newest build was made of. */
interface Build {
  readonly name: string;
  /** The files that were read, below the project's folder. */
  readonly inputs: readonly string[];
}

/** The builds that this process is making or looking for, by their folder: several parts start at once. */
const finding = new Map<string, Promise<string>>();

/** Younger builds may be about to be started by another process. */
const keptForMs = 3_600_000;
const keptBuilds = 3;

/**
 * The file of a program as plain JavaScript in a few files, which Node reads in a fraction of the time that some hundred
 * TypeScript sources take. It is built once for the same sources and kept (decision 119, "Sizes and starts"). What the
 * code knows of its own place (`import.meta.url`) stays that of its source.
 * @param entry one of the entries
 * @throws Error with the faults of the sources; the file system's error where nothing can be written
 */
export async function builtProgram(entry: string, of: ProgramSources = ourPrograms): Promise<string> {
  if (!of.entries.includes(entry)) throw new Error(`${entry} is none of the programs that are built.`);
  return fileIn(of, await findOrBuild(of), entry);
}

/** The arguments by which Node runs a program of this project; under tsx where no build can be kept. */
export async function argsToRun(entry: string, of: ProgramSources = ourPrograms): Promise<string[]> {
  try {
    return ['--enable-source-maps', await builtProgram(entry, of)];
  } catch (error) {
    // Faults of the sources are no failed calls of the system.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    return ['--import', 'tsx', entry];
  }
}

/** @returns the same file where a build of the present sources is kept, and nothing has to be built */
export function keptProgram(entry: string, of: ProgramSources = ourPrograms): string | undefined {
  const name = of.entries.includes(entry) ? findKept(of) : undefined;
  return name === undefined ? undefined : fileIn(of, name, entry);
}

function fileIn(of: ProgramSources, name: string, entry: string): string {
  return join(folderOf(of), name, entry.replace(/\.ts$/, '.mjs'));
}

async function findOrBuild(of: ProgramSources): Promise<string> {
  const folder = folderOf(of);
  const begun = finding.get(folder);
  if (begun) return begun;
  const find = async (): Promise<string> => findKept(of) ?? (await build(of));
  const found = find().finally(() => finding.delete(folder));
  finding.set(folder, found);
  return found;
}

/** Below node_modules, so that the packages are found from there. */
function folderOf({ projectDir, cacheName = 'gpu-rental-programs' }: ProgramSources): string {
  return join(projectDir, 'node_modules', '.cache', cacheName);
}

/** @returns the newest build, if it was made of what lies there now */
function findKept(of: ProgramSources): string | undefined {
  try {
    const folder = folderOf(of);
    const newest = JSON.parse(readFileSync(join(folder, 'newest.json'), 'utf8')) as Build;
    const files = newest.inputs.map((name) => [name, readFileSync(join(of.projectDir, name))] as const);
    return nameOf(of, files) === newest.name && statSync(join(folder, newest.name)).isDirectory()
      ? newest.name
      : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A name that changes with any byte of the sources, and with what builds and runs them. The sources' place is part of
 * it, since the build names it: a copied checkout would run the code of its original.
 */
function nameOf(of: ProgramSources, files: readonly (readonly [name: string, bytes: Uint8Array])[]): string {
  const require = createRequire(import.meta.url);
  const { version } = require('esbuild/package.json') as { readonly version: string };
  return hashOfContents(files, JSON.stringify([version, process.version, of])).slice(0, 32);
}

async function build(of: ProgramSources): Promise<string> {
  const folder = folderOf(of);
  const beside = join(folder, `making-${process.pid}`);
  mkdirSync(beside, { recursive: true });
  try {
    const files = await bundle(of, beside);
    const inputs = [...files.keys()].sort();
    const name = nameOf(
      of,
      inputs.map((input) => [input, files.get(input) ?? Buffer.alloc(0)] as const),
    );
    takePlace(beside, join(folder, name));
    const record = join(folder, `newest.json.${process.pid}`);
    writeFileSync(record, JSON.stringify({ name, inputs } satisfies Build));
    renameSync(record, join(folder, 'newest.json'));
    removeOld(folder, name);
    return name;
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** @returns the sources that were read, by their names below the project's folder */
async function bundle(
  { projectDir, entries, tsconfig }: ProgramSources,
  outdir: string,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  if (tsconfig !== undefined) files.set(tsconfig, readFileSync(join(projectDir, tsconfig)));
  // It need not be loaded where nothing has changed.
  const esbuild = await import('esbuild');
  await esbuild.build({
    absWorkingDir: projectDir,
    ...(tsconfig !== undefined && { tsconfig: join(projectDir, tsconfig) }),
    entryPoints: [...entries],
    outdir,
    outbase: projectDir,
    outExtension: { '.js': '.mjs' },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20' },
    packages: 'external',
    // Names of functions are names of workflows.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'read-sources',
        setup(building) {
          // The workspaces' own packages are sources as well.
          building.onResolve({ filter: /^@gpu-rental\// }, ({ path, importer }) => ({
            path: createRequire(importer).resolve(path),
          }));
          building.onLoad({ filter: /\.(ts|mjs|js)$/ }, ({ path }) => {
            const bytes = readFileSync(path);
            files.set(relative(projectDir, path), bytes);
            const loader = path.endsWith('.ts') ? 'ts' : 'js';
            return { contents: atItsPlace(bytes.toString('utf8'), path), loader };
          });
        },
      },
    ],
  });
  return files;
}

/** One file holds the code of many: each goes on knowing where its own source is. */
function atItsPlace(source: string, path: string): string {
  return source
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)));
}

/** Another process may have made the same meanwhile, which is as good. */
function takePlace(beside: string, place: string): void {
  try {
    renameSync(beside, place);
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

function removeOld(folder: string, newest: string): void {
  const builds = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== newest)
    .map(({ name }) => ({ path: join(folder, name), atMs: statSync(join(folder, name)).mtimeMs }))
    .toSorted((a, b) => b.atMs - a.atMs);
  for (const { path, atMs } of builds.slice(keptBuilds - 1)) {
    if (Date.now() - atMs > keptForMs) rmSync(path, { recursive: true, force: true });
  }
}
