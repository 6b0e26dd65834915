import type { Rental } from '@gpu-rental/client';

/** The command that enters a machine; undefined until it has an address. */
export function sshCommand({
  host,
  port,
  username,
}: Pick<Rental, 'host' | 'port' | 'username'>): string | undefined {
  if (host === null || port === null) return undefined;
  const target = `${username ?? 'root'}@${host}`;
  // It is copied into a shell: whatever is no user and address is not shown as a command.
  if (!/^[0-9A-Za-z_][0-9A-Za-z_.-]*@[0-9A-Za-z.:_-]+$/.test(target)) return undefined;
  return `ssh -p ${port} ${target}`;
}
