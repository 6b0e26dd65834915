import { createHash } from 'node:crypto';
import { chmodSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs';
import { lchown, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The user of pods under a root lab; null when the lab is an ordinary user itself. */
export interface PodUser {
  readonly uid: number;
  readonly gid: number;
}

/** Linux's `nobody`, who owns nothing except the pods' homes. */
const NOBODY: PodUser = { uid: 65_534, gid: 65_534 };

/** The size limit of a file that lists keys, in bytes. */
const MAX_AUTHORIZED_KEYS_BYTES = 64 * 1024;

/** Finds the user that pods' commands run as: never root. */
export function findPodUser(): PodUser | null {
  return process.getuid?.() === 0 ? NOBODY : null;
}

/** The folders of one pod. `bin` comes first in its PATH and belongs to the lab; `home` belongs to the pod's user. */
export interface PodHome {
  readonly root: string;
  readonly home: string;
  readonly bin: string;
}

export function podHomeOf(homesDir: string, podId: string): PodHome {
  const root = join(homesDir, podId);
  return { root, home: join(root, 'home'), bin: join(root, 'bin') };
}

/**
 * Chooses the folder of pods: below the data folder, unless the lab is root and the pods' user can't reach it (a folder
 * in root's private home). Then a folder of the system's temporary one, named after the data folder.
 */
export function prepareHomesDir(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  const inside = join(resolve(dataDir), 'pods');
  if (findPodUser() === null || isPassable(resolve(dataDir))) {
    mkdirSync(inside, { recursive: true, mode: 0o755 });
    return inside;
  }
  const name = `gpu-rental-lab-${createHash('sha256').update(inside).digest('hex').slice(0, 12)}`;
  const outside = join(tmpdir(), name);
  mkdirSync(outside, { recursive: true, mode: 0o755 });
  const { uid } = lstatSync(outside);
  if (!lstatSync(outside).isDirectory() || uid !== 0) {
    throw new Error(`${outside} belongs to someone else; remove it and start the lab again.`);
  }
  chmodSync(outside, 0o755);
  return outside;
}

function isPassable(path: string): boolean {
  const others = statSync(path).mode & constants.S_IXOTH;
  return others !== 0 && (dirname(path) === path || isPassable(dirname(path)));
}

/** The first content of a pod's home. */
export interface PodHomeContent {
  readonly publicKey: string | null;
  readonly userName: string;
  readonly hostName: string;
  /** Programs of the pod's own, by name. */
  readonly programs: Readonly<Record<string, string>>;
}

/**
 * Makes a pod's folders anew. It first removes the files of an earlier, unfinished boot: the pod's user may have put
 * links there, and root must not follow them.
 */
export async function makePodHome(
  paths: PodHome,
  user: PodUser | null,
  content: PodHomeContent,
): Promise<void> {
  await removePodHome(paths);
  await mkdir(paths.bin, { recursive: true, mode: 0o755 });
  for (const [name, script] of Object.entries(content.programs)) {
    await writeFile(join(paths.bin, name), script, { mode: 0o755 });
  }
  const ssh = join(paths.home, '.ssh');
  const prompt = `PS1='${content.userName}@${content.hostName}:\\w\\$ '\n`;
  const keys = content.publicKey === null ? '' : `${content.publicKey}\n`;
  await mkdir(ssh, { recursive: true, mode: 0o700 });
  await writeFile(join(paths.home, '.bashrc'), prompt, { mode: 0o644 });
  await writeFile(join(ssh, 'authorized_keys'), keys, { mode: 0o600 });
  if (user === null) return;
  for (const path of [join(ssh, 'authorized_keys'), join(paths.home, '.bashrc'), ssh, paths.home]) {
    await lchown(path, user.uid, user.gid);
  }
}

/** Removes everything of a pod. */
export async function removePodHome(paths: PodHome): Promise<void> {
  await rm(paths.root, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });
}

/**
 * Reads the key lines that a pod accepts now. The file belongs to the pod's user: a link is not followed, and a pipe is
 * not waited for.
 */
export async function readAuthorizedKeys(paths: PodHome): Promise<string[]> {
  const path = join(paths.home, '.ssh', 'authorized_keys');
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    const file = await open(path, flags);
    try {
      if (!(await file.stat()).isFile()) return [];
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_AUTHORIZED_KEYS_BYTES), 0);
      return buffer.toString('utf8', 0, bytesRead).split('\n');
    } finally {
      await file.close();
    }
  } catch {
    // The file is absent or can't be read: then no key opens the pod.
    return [];
  }
}
