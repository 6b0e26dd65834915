import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build, type Metafile } from 'esbuild';

const run = promisify(execFile);
const projectDir = join(import.meta.dirname, '..', '..');
const clients = join(projectDir, 'clients');
const COMPILE_WITHIN_MS = 300_000;

/** What a package.json says, of which the packages take over what holds outside of a checkout too. */
type Facts = Readonly<Record<string, unknown>>;

/**
 * Makes the packages of the typed client and of the command: plain JavaScript, for whoever has Node and no checkout.
 * @param target the folder for them, which is made anew
 * @returns the tarballs, as `npm pack` makes them
 */
export async function packClients(target: string): Promise<{ client: string; cli: string }> {
  rmSync(target, { recursive: true, force: true });
  const folders = { client: join(target, 'client'), cli: join(target, 'cli') };
  for (const folder of Object.values(folders)) mkdirSync(join(folder, 'dist'), { recursive: true });
  await Promise.all([buildClient(folders.client), buildCli(folders.cli)]);
  return { client: await pack(folders.client, target), cli: await pack(folders.cli, target) };
}

/** Compiles the client, whose types come with it; what it needs stays a dependency. */
async function buildClient(folder: string): Promise<void> {
  const source = join(clients, 'typescript');
  const dist = join(folder, 'dist');
  const tsc = join(projectDir, 'node_modules', 'typescript-7', 'bin', 'tsc');
  const options = ['--noEmit', 'false', '--declaration', '--rootDir', join(source, 'src'), '--outDir', dist];
  await run(process.execPath, [tsc, '-p', source, ...options], { timeout: COMPILE_WITHIN_MS });
  copyFileSync(join(source, 'src', 'schema.d.ts'), join(dist, 'schema.d.ts'));
  const { dependencies } = factsOf(source);
  finish(source, folder, {
    ...{ sideEffects: false, dependencies },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
  });
}

/** Bundles the command with all that it needs; what few commands use is a file of its own, and loaded by them alone. */
async function buildCli(folder: string): Promise<void> {
  const source = join(clients, 'cli');
  const { metafile } = await build({
    ...{ entryPoints: [join(source, 'src', 'main.ts')], outdir: join(folder, 'dist') },
    ...{ bundle: true, splitting: true, minify: true, metafile: true, logLevel: 'error' },
    ...{ platform: 'node', format: 'esm', target: 'node20', absWorkingDir: projectDir },
    // Some of what it needs is CommonJS, and asks for Node's own modules.
    banner: { js: `import{createRequire as r}from'node:module';const require=r(import.meta.url);` },
  });
  const start = `#!/usr/bin/env node
import module from 'node:module';

// From Node 22 on, what was compiled once is kept.
module.enableCompileCache?.();
await import('./main.js');
`;
  writeFileSync(join(folder, 'dist', 'gpu.js'), start, { mode: 0o755 });
  writeFileSync(join(folder, 'THIRD-PARTY.md'), notices(metafile));
  finish(source, folder, { bin: { gpu: 'dist/gpu.js' } });
}

/** What a package has compiled into itself, and its own licence does not name. */
const within: Readonly<Record<string, string>> = {
  'jq-wasm':
    'It contains jq 1.8.2 (MIT, copyright 2012 Stephen Dolan, https://github.com/jqlang/jq/blob/jq-1.8.2/COPYING) with Oniguruma (BSD-2-Clause, https://github.com/kkos/oniguruma/blob/master/COPYING).\n\n',
};

/** The licences of what is bundled, which ask to be passed on. @throws Error for a package that brings none */
function notices({ inputs }: Metafile): string {
  const folders = Object.keys(inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const texts = [...new Set(folders)].sort().map((folder) => {
    const licence = readdirSync(join(projectDir, folder)).find((file) => /^licen[cs]e/i.test(file));
    const { name, version } = factsOf(join(projectDir, folder));
    if (licence === undefined) throw new Error(`${String(name)} brings no text of its licence.`);
    const more = within[String(name)] ?? '';
    return `## ${String(name)} ${String(version)}\n\n${more}${readFileSync(join(projectDir, folder, licence), 'utf8').trim()}\n`;
  });
  return `# What is bundled, and its licences\n\n${texts.join('\n')}`;
}

/** Adds what each package carries. @param own what its package.json says besides */
function finish(source: string, folder: string, own: Facts): void {
  const { name, version, description, license, type, engines, publishConfig } = factsOf(source);
  const facts = { name, version, description, license, type, engines, ...own, publishConfig };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(facts, null, 2)}\n`);
  copyFileSync(join(projectDir, 'LICENSE'), join(folder, 'LICENSE'));
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
}

function factsOf(folder: string): Facts {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Facts;
}

async function pack(folder: string, target: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', target], { cwd: folder });
  const tarball = join(target, stdout.trim());
  if (!existsSync(tarball)) throw new Error(`npm pack made no ${tarball} in ${dirname(tarball)}`);
  return tarball;
}
