import { findOnPath } from '../../lab/servers/temporal-cli-binary.js';
import { runProgram } from './podman.js';

/** The programs that run containers here, and Debian's packages that have them. */
const packageOf: Readonly<Record<string, string>> = {
  buildah: 'buildah',
  podman: 'podman',
  crun: 'crun',
  conmon: 'conmon',
  catatonit: 'catatonit',
  mmdebstrap: 'mmdebstrap',
  iptables: 'iptables',
  ip: 'iproute2',
  unshare: 'util-linux',
};

/** Programs that podman starts by itself, from folders that are not on the PATH. */
const helpers = ['netavark', 'aardvark-dns'];
const helperPath = '/usr/lib/podman:/usr/libexec/podman:/usr/local/lib/podman:/usr/local/libexec/podman';
/** The keys by which mmdebstrap verifies Debian's packages. */
const keys = 'debian-archive-keyring';
const installLimitMs = 300_000;

/**
 * Checks that all programs are there, and installs them where this user may.
 * @returns the reason why they are not available, or undefined when they are
 */
export async function findToolFault(
  searchPath: string,
  log: (line: string) => void,
): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'containers are run by Linux only';
  if (process.getuid?.() !== 0)
    return 'there is no docker compose, and to run containers without it takes root';
  const missing = (): string[] => [
    ...Object.keys(packageOf).filter(
      (name) => findOnPath(name, `${searchPath}:/usr/sbin:/sbin`) === undefined,
    ),
    ...helpers.filter((name) => findOnPath(name, helperPath) === undefined),
  ];
  if (missing().length > 0) {
    if (findOnPath('apt-get', searchPath) === undefined) {
      return `there is neither docker compose nor ${missing().join(', ')}, and no apt-get to install them with`;
    }
    log(`installing ${missing().join(', ')}`);
    await install();
  }
  return missing().length === 0 ? undefined : `${missing().join(', ')} could not be installed`;
}

async function install(): Promise<void> {
  const packages = [...new Set([...Object.values(packageOf), ...helpers, keys])];
  const apt = (...args: string[]): ReturnType<typeof runProgram> =>
    runProgram('apt-get', args, installLimitMs, { DEBIAN_FRONTEND: 'noninteractive' });
  const attempt = ['install', '--yes', '--no-install-recommends', ...packages];
  if ((await apt(...attempt)).code === 0) return;
  await apt('update');
  await apt(...attempt);
}
