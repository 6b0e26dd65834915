import type { Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../data/account.js';
import { madeKeyFile } from '../../data/made-keys.js';
import { sshBlock, sshCommand, type SshBlock } from './ssh-command.js';

/** How a machine is entered from this computer. */
export function useSsh(rental: Rental): {
  readonly command: string | undefined;
  readonly block: SshBlock | undefined;
} {
  const { data: me } = useQuery(meQuery);
  const keyFile = me && madeKeyFile(me.user.id, rental.startedAt);
  return { command: sshCommand(rental, keyFile), block: sshBlock(rental, keyFile) };
}
