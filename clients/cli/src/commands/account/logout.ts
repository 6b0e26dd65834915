import { isApiError } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { localDate } from '../../output/time.js';

/** gpu logout */
export const addLogout: AddCommand = (program, act) => {
  program
    .command('logout')
    .summary('forget the key of this machine')
    .description(
      'Forget the key of this machine. With --revoke nobody else can use it either, should it have been copied.',
    )
    .option('--revoke', 'revoke the key as well; this asks for a mailed code')
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
          `The key would have been valid until ${localDate(expiresAt)}. If it may have been copied, revoke it: gpu keys revoke ${keyId ?? ''}`,
        )
      : []),
  ]);
}

async function revokeKey(cli: Cli, keyId: string): Promise<void> {
  await withSession(cli, 'A key can be revoked by a sign-in only.', async (client) => {
    try {
      await client.apiKeys.revoke(keyId);
    } catch (error) {
      if (!isApiError(error) || error.status !== 404) throw error;
    }
  });
}
