import type { Rental } from '@gpu-rental/client';

type Place = Pick<Rental, 'host' | 'port' | 'username'>;

/** Where ssh finds a machine, as it may stand in a command. */
interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly username: string;
}

/** It is copied into a shell or a file of settings: whatever is no user and address is not shown. */
function targetOf({ host, port, username }: Place): SshTarget | undefined {
  if (host === null || port === null) return undefined;
  const target = { host, port, username: username ?? 'root' };
  const isPlain = /^[0-9A-Za-z_][0-9A-Za-z_.-]*@[0-9A-Za-z.:_-]+$/.test(`${target.username}@${host}`);
  return isPlain ? target : undefined;
}

/**
 * The command that enters a machine; undefined until it has an address.
 * @param keyFile the file of a key that this browser made, in ~/.ssh
 */
export function sshCommand(place: Place, keyFile?: string): string | undefined {
  const target = targetOf(place);
  if (!target) return undefined;
  const key = keyFile === undefined ? '' : `-i ~/.ssh/${keyFile} `;
  return `ssh ${key}-p ${target.port} ${target.username}@${target.host}`;
}

/** Lines for ~/.ssh/config, by which `ssh ALIAS` and editors find a machine. */
export interface SshBlock {
  readonly alias: string;
  readonly text: string;
}

/** @returns undefined until the machine has an address */
export function sshBlock(
  rental: Place & Pick<Rental, 'id' | 'name'>,
  keyFile?: string,
): SshBlock | undefined {
  const target = targetOf(rental);
  if (!target) return undefined;
  const lines = [`HostName ${target.host}`, `Port ${target.port}`, `User ${target.username}`];
  if (keyFile !== undefined) lines.push(`IdentityFile ~/.ssh/${keyFile}`, 'IdentitiesOnly yes');
  const alias = aliasOf(rental);
  return { alias, text: [`Host ${alias}`, ...lines.map((line) => `  ${line}`)].join('\n') };
}

/** As `gpu ssh-config` names machines; other signs would be a pattern, or two names. */
function aliasOf({ id, name }: Pick<Rental, 'id' | 'name'>): string {
  return `gpu-${name !== null && /^[\w.-]+$/.test(name) ? name : id.slice(-6)}`;
}
