import { isApiError } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { agentPlace } from '../tools/agent-key.js';
import { localDate } from '../../output/time.js';

/** gpu logout */
export const addLogout: AddCommand = (program, act) => {
  program
    .command('logout')
    .summary('sign out: forget this computer’s key')
    .description(
      'Forget this computer’s key. With --revoke nobody else can use it either, in case it was copied.',
    )
    .option('--revoke', 'also revoke the key; asks for a code that we email you')
    .action(
      act(async (cli, { revoke = false }: { revoke?: boolean }) => {
        await logOut(cli, revoke);
        return undefined;
      }),
    );
};

async function logOut(cli: Cli, revoke: boolean): Promise<void> {
  const { store, out, url, place } = cli;
  const profile = store.profile(place);
  const isSignedIn = store.credentials(place).apiKey !== undefined;
  const keyId = profile?.keyId ?? null;
  if (isSignedIn && revoke && keyId !== null) await revokeKey(cli, keyId);
  store.forget(place);
  const expiresAt = profile?.keyExpiresAt ?? null;
  out.result({ url, signedOut: isSignedIn, revoked: isSignedIn && revoke && keyId !== null }, () => [
    isSignedIn ? `Signed out of ${url}.` : `You were not signed in at ${url}.`,
    ...(isSignedIn && !revoke && expiresAt !== null
      ? out.text(
          `The key stays valid until ${localDate(expiresAt)}. If someone may have copied it, revoke it: gpu keys revoke ${keyId ?? ''}`,
        )
      : []),
    ...(store.credentials(agentPlace(cli).at).apiKey === undefined
      ? []
      : out.text(
          `Agents still have their own key here. To forget it: gpu logout --profile ${agentPlace(cli).name}`,
        )),
  ]);
}

async function revokeKey(cli: Cli, keyId: string): Promise<void> {
  await withSession(cli, 'revoke this computer’s key', async (client) => {
    try {
      await client.apiKeys.revoke(keyId);
    } catch (error) {
      if (!isApiError(error) || error.status !== 404) throw error;
    }
  });
}
