import type { Rental } from '@gpu-rental/client';

/** The command that enters a machine; undefined until it has an address. */
export function sshCommand({
  host,
  port,
  username,
}: Pick<Rental, 'host' | 'port' | 'username'>): string | undefined {
  if (host === null || port === null) return undefined;
  return `ssh -p ${port} ${username ?? 'root'}@${host}`;
}
