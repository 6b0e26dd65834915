import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { placeInCache } from '../../lab/servers/cache.js';
import { goInstall } from '../../lab/servers/go-install.js';
import { findOnPath, type TemporalCliPlaces } from '../../lab/servers/temporal-cli-binary.js';
import { runProgram } from './podman.js';

/** Files that are fetched or made once for all projects of this user. Each throws the reason of its failure. */
export interface BaseFiles {
  /** A minimal Debian as one archive. */
  readonly root: string;
  /** A folder with Node's program, and npm in `npm`. */
  readonly node: string;
  /** A folder with the program and the settings of Temporal's UI; null when it can't be had here. */
  readonly ui: string | null;
}

/** Of the image's major version; npm's registry has the program itself. */
const nodeVersion = '24.21.0';
const npmVersion = '11.21.2';
const suite = 'bookworm';
const packages = ['ca-certificates', 'postgresql-client-15', 'wget'];
/** The users of the images that the compose file names, by their numbers. */
const hooks = [
  'chroot "$1" useradd --create-home --uid 1000 app',
  'chroot "$1" useradd --system --uid 999 --home-dir /var/lib/postgresql postgres',
  'chroot "$1" install --directory --owner postgres --group postgres --mode 1777 /var/lib/postgresql /var/run/postgresql',
  'copy-in /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs',
];
const fetchLimitMs = 300_000;

export async function findBaseFiles(
  places: Pick<TemporalCliPlaces, 'searchPath' | 'cacheDir'>,
  uiVersion: string,
  log: (line: string) => void,
): Promise<BaseFiles> {
  const folder = join(places.cacheDir, '..', 'containers');
  mkdirSync(folder, { recursive: true });
  const recipe = createHash('sha256')
    .update(JSON.stringify([suite, packages, hooks]))
    .digest('hex')
    .slice(0, 12);
  const root = join(folder, `${suite}-${recipe}.tar`);
  const node = join(folder, `node-${nodeVersion}-npm-${npmVersion}`);
  if (!existsSync(root)) {
    log('making a minimal Debian, once for all projects of this user (a minute)');
    await placeInCache(root, (into) => makeRoot(join(into, 'root.tar')));
  }
  if (!existsSync(node)) await placeInCache(node, fetchNode);
  return { root, node, ui: await findUi(join(folder, `temporal-ui-${uiVersion}`), uiVersion, places, log) };
}

async function makeRoot(target: string): Promise<string> {
  await must('mmdebstrap', [
    ...['--variant=minbase', `--include=${packages.join(',')}`],
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    ...[suite, target],
  ]);
  return target;
}

async function fetchNode(folder: string): Promise<string> {
  const whole = join(folder, 'whole');
  mkdirSync(whole);
  for (const [name, version] of [
    [`node-linux-${process.arch}`, nodeVersion],
    ['npm', npmVersion],
  ] as const) {
    const archive = (
      await must('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', folder])
    ).trim();
    const into = join(whole, name === 'npm' ? 'npm' : 'node');
    mkdirSync(into);
    await must('tar', ['-xzf', join(folder, archive), '-C', into, '--strip-components=1']);
  }
  return whole;
}

/** Its settings come with its source. */
async function findUi(
  target: string,
  version: string,
  { searchPath }: Pick<TemporalCliPlaces, 'searchPath'>,
  log: (line: string) => void,
): Promise<string | null> {
  if (existsSync(target)) return target;
  const go = findOnPath('go', searchPath);
  if (go === undefined) return null;
  const module = `github.com/temporalio/ui-server/v2`;
  try {
    await placeInCache(target, async (folder) => {
      const what = `building ${module}@v${version}`;
      await goInstall({
        go,
        goPackage: `${module}/cmd/server@v${version}`,
        folder,
        what,
        log,
        limitMs: fetchLimitMs,
      });
      const source = await must(go, ['mod', 'download', '-json', `${module}@v${version}`]);
      cpSync(join((JSON.parse(source) as { Dir: string }).Dir, 'config'), join(folder, 'config'), {
        recursive: true,
      });
      return folder;
    });
    return target;
  } catch (error) {
    log(`Temporal's UI can not be built: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

async function must(command: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, args, fetchLimitMs);
  if (code === 0) return stdout;
  throw new Error(`${command} ${args[0] ?? ''} ended with ${code}: ${stderr.trim().slice(-1_000)}`);
}
