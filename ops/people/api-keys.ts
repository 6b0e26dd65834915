import type { Command } from 'commander';
import { listApiKeys } from '../../adapters/postgres/accounts/api-key-list.js';
import type { ApiKeyRow } from '../../adapters/postgres/rows/tables.js';
import type { ApiKeyId } from '../../domain/ids.js';
import { using, type OpsContext } from '../context.js';
import { actByHand } from '../direct.js';
import { asOperator, countOf, idOf, type OperatorOptions } from '../options.js';
import { iso, printRows, readable, type Print } from '../output.js';
import { getUser, userIdOf } from './named-user.js';

/** `ops users keys` and `ops users revoke-keys` (decision 108, "API keys"). */
export function addApiKeyCommands(users: Command, context: OpsContext): void {
  readable(users.command('keys').argument('<who>', 'an email address or usr_…'))
    .description('Lists a user’s API keys, newest first, including ended ones.')
    .option('--limit <count>', 'how many at most', countOf, 50)
    .action((who: string, { limit, json }: Print & { limit: number }) =>
      using(context, async (db) => {
        const { id } = await getUser(db, who);
        const keys = await listApiKeys(db, id, undefined, limit);
        printRows(
          // The hash proves nothing, and is nobody's business.
          keys.map((key) => ({ ...key, token_hash: undefined })),
          json,
          lineOf,
        );
      }),
    );
  asOperator(users.command('revoke-keys').argument('<who>', 'an email address or usr_…'))
    .description(
      'Revokes all of a user’s API keys, or one. You can’t undo this. Their machines keep running.',
    )
    .option('--key <id>', 'only this one', idOf('key'))
    .action((who: string, { key, ...options }: OperatorOptions & { key?: ApiKeyId }) =>
      actByHand(
        context,
        async (db) => ({
          kind: 'revoke_api_keys',
          userId: await userIdOf(db, who),
          ...(key !== undefined && { keyId: key }),
        }),
        options,
        { then: 'ends programs that use them: they need new keys' },
      ),
    );
}

type ShownKey = Omit<ApiKeyRow, 'token_hash'>;

function lineOf(key: ShownKey): string {
  const ranges = key.allowed_cidrs?.join(', ') ?? 'anywhere';
  return [
    key.id,
    `…${key.hint}`,
    JSON.stringify(key.name),
    `${key.scopes.join(', ')} from ${ranges}`,
    key.last_used_at === null
      ? 'never used'
      : `last used ${iso(key.last_used_at)} from ${key.last_used_address ?? 'somewhere'}`,
    stateOf(key),
  ].join('  ');
}

function stateOf({ revoked_at: revoked, suspended_at: suspended, expires_at: expires }: ShownKey) {
  if (revoked) return `REVOKED ${iso(revoked)}`;
  return `until ${iso(expires)}${suspended ? `, SUSPENDED since ${iso(suspended)}` : ''}`;
}
