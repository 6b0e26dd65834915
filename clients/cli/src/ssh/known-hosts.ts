import type { Rental } from '@gpu-rental/client';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isServiceId, oddId } from '../checked-answers.js';
import type { Cli } from '../cli.js';
import { readIfThere, writePrivately } from '../config/files.js';
import { Failure } from '../failure.js';
import { plain } from '../output/text.js';
import { nameOf } from '../views/rental.js';
import { fingerprintOf } from './fingerprint.js';
import { isMissingProgram } from './programs.js';

/** A machine whose SSH answers. */
export interface Reachable {
  readonly rental: Pick<Rental, 'id' | 'name'>;
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly hostKeyFingerprint: string;
}

/** Each begins with a letter or digit, so that no program takes one for an option, and holds no space or line break. */
const hostForm = /^(?:[0-9A-Za-z][0-9A-Za-z._-]{0,252}|[0-9A-Fa-f:.]{2,45})$/;
const userForm = /^[0-9A-Za-z_][0-9A-Za-z_.-]{0,31}$/;
const fingerprintForm = /^SHA256:[0-9A-Za-z+/]{43}$/;

/**
 * Checks what the service told of a machine before a program or a file gets it.
 * @throws Failure hostKey: whoever answers means harm
 */
export function checkReachable(machine: Reachable): Reachable {
  const { host, port, username, hostKeyFingerprint } = machine;
  const odd = [
    ...(hostForm.test(host) ? [] : [`the address "${host}"`]),
    ...(Number.isInteger(port) && port >= 1 && port <= 65_535 ? [] : [`the port ${port}`]),
    ...(userForm.test(username) ? [] : [`the user "${username}"`]),
    ...(fingerprintForm.test(hostKeyFingerprint) ? [] : [`the host key "${hostKeyFingerprint}"`]),
  ];
  if (odd.length === 0) return machine;
  throw new Failure(
    'hostKey',
    `The service returned ${odd.map(plain).join(' and ')}, which no machine has, so we did not connect.`,
    'Something else may be answering in its place: check --url.',
  );
}

const scanSeconds = 10;

/**
 * Pins a machine's host key: the file names the one key whose fingerprint the service saw when the machine came up, and
 * ssh takes no other one. The service tells a fingerprint, so the key itself is asked of the machine, and believed only
 * when the fingerprint is that one.
 * @returns the file
 * @throws Failure hostKey when the machine shows another key; network when it shows none
 */
export async function pinHostKey(cli: Cli, machine: Reachable): Promise<string> {
  const file = knownHostsFile(cli, machine.rental.id);
  const pinned = keysIn(readIfThere(file) ?? '');
  if (pinned.some((key) => fingerprintOf(key.key) === machine.hostKeyFingerprint)) return file;
  const key = await scanRightKey(cli, machine);
  writePrivately(file, `${machine.rental.id} ${key.type} ${key.key}\n`);
  return file;
}

/** Forgets the host key of a machine that has ended. */
export function forgetHostKey(cli: Cli, rentalId: string): void {
  rmSync(knownHostsFile(cli, rentalId), { force: true });
}

/**
 * Looks whether a machine still shows the key that the service saw.
 * @throws Failure as above
 */
export async function checkHostKey(cli: Cli, machine: Reachable): Promise<void> {
  await scanRightKey(cli, machine);
}

async function scanRightKey(cli: Cli, machine: Reachable): Promise<HostKey> {
  const shown = await scan(cli, machine);
  const right = shown.find(({ key }) => fingerprintOf(key) === machine.hostKeyFingerprint);
  if (right) return right;
  if (shown.length === 0) throw silent(machine);
  throw changed(machine, shown);
}

function silent({ host, port, rental }: Reachable): Failure {
  return new Failure(
    'network',
    `${nameOf(rental)} does not answer at ${host} port ${port}.`,
    'Check whether it still runs: gpu show. Your network may also block this port.',
  );
}

function changed({ rental, hostKeyFingerprint }: Reachable, shown: readonly HostKey[]): Failure {
  const others = [...new Set(shown.map(({ key }) => fingerprintOf(key)))].join(', ');
  return new Failure(
    'hostKey',
    `${nameOf(rental)} has another host key than when it started, so we did not connect. Expected: ${hostKeyFingerprint}. Shown: ${others}`,
    'Someone may be between you and the machine, or its system was reinstalled. Send nothing secret. If you did not reinstall it, stop it and rent another one: gpu stop',
  );
}

interface HostKey {
  readonly type: string;
  readonly key: string;
}

async function scan(cli: Cli, { host, port }: Reachable): Promise<HostKey[]> {
  try {
    const args = ['-T', String(scanSeconds), '-p', String(port), '--', host];
    const options = { limitMs: 3 * scanSeconds * 1_000, signal: cli.signal };
    const { stdout } = await cli.surroundings.run('ssh-keyscan', args, options);
    return keysIn(stdout);
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new Failure(
      'usage',
      'There is no ssh-keyscan on this computer.',
      'Install OpenSSH, and try again.',
    );
  }
}

const typeForm = /^[a-z0-9@.-]+$/;
const keyForm = /^[A-Za-z0-9+/]+={0,2}$/;

/** The keys of known_hosts lines: host, type, key in base64. */
function keysIn(text: string): HostKey[] {
  return text.split('\n').flatMap((line) => {
    const [host = '', type = '', key = ''] = line.trim().split(/\s+/);
    if (host.startsWith('#') || !typeForm.test(type) || !keyForm.test(key)) return [];
    return [{ type, key }];
  });
}

function knownHostsFile(cli: Cli, rentalId: string): string {
  if (!isServiceId(rentalId)) throw oddId(rentalId);
  return join(cli.store.paths.knownHosts, rentalId);
}
