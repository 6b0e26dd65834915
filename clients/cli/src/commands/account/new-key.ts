import type { ApiKeyScope, CreateApiKey, CreatedApiKey, GpuRental } from '@gpu-rental/client';
import type { Cli } from '../../cli.js';
import { explainFailure } from '../../explain-failure.js';
import { Failure } from '../../failure.js';
import { centsOf } from '../../output/money.js';

const dayMs = 86_400_000;

/** What a program usually needs. The scope `setup` is asked for by --setup. */
export const programScopes: readonly ApiKeyScope[] = ['read', 'rentals', 'billing'];

/** When a key ends that is made now. @returns ISO 8601, UTC */
export function endAfter(cli: Cli, days: number): string {
  return new Date(cli.now() + days * dayMs).toISOString();
}

/** How long an agent's key is valid, in days, and what its machines may cost in total, in cents. */
export interface AgentLimits {
  readonly days: number;
  readonly spendCap: number;
}

/** An agent gets no key without limits: who names none is asked. */
export async function agentLimits(
  { asking }: Cli,
  { days, spendCap }: { readonly days?: number; readonly spendCap?: number },
): Promise<AgentLimits> {
  const otherwise = 'Name both: --spend-cap 20 --days 30';
  const givenUp = 'No key was created.';
  const cap = await (spendCap ??
    asking
      .line({ message: 'How much may its machines cost in total, in dollars?', otherwise, givenUp }, (text) =>
        centsOf(text) === undefined ? 'Enter an amount such as 20 or 12.50.' : undefined,
      )
      .then((text) => centsOf(text) ?? 0));
  const validDays = await (days ??
    asking
      .line({ message: 'How many days is it valid?', otherwise, givenUp }, (text) =>
        /^[1-9]\d{0,2}$/.test(text) && Number(text) <= 365 ? undefined : 'Enter a number from 1 to 365.',
      )
      .then(Number));
  return { days: validDays, spendCap: cap };
}

/** Creates a key by a session. Whatever ends the command from then on names the key. */
export function createKey(cli: Cli, client: GpuRental, body: CreateApiKey): Promise<CreatedApiKey> {
  const { name } = body;
  return cli.commit(
    () => client.apiKeys.create(body),
    {
      details: { name, outcome: 'unknown' },
      message: `The service did not confirm whether it created the key "${name}".`,
      next: 'Check with: gpu keys. If it is there, you can’t see it again: revoke it with gpu keys revoke',
    },
    ({ id }) => ({
      details: { keyId: id },
      message: `The key "${name}" (${id}) was created anyway, and can’t be shown again.`,
      next: `Revoke it, then create another: gpu keys revoke ${id}`,
    }),
  );
}

/**
 * Keeps a new key on this computer. One that can't be kept would be of no use, and lie around for its life: it is revoked.
 * Where it is not, what ends the command goes on naming it.
 * @throws Failure that says that it is revoked
 */
export async function keptOrRevoked<T>(
  cli: Cli,
  { id }: { readonly id: string },
  client: GpuRental,
  keep: () => T | Promise<T>,
): Promise<T> {
  try {
    const kept = await keep();
    cli.standing = undefined;
    return kept;
  } catch (error) {
    await client.apiKeys.revoke(id).catch(() => {
      // The key stands, and is told of as that.
      throw error;
    });
    cli.standing = undefined;
    const { kind, message, next } = explainFailure(error, cli, false);
    const told = `${message} The new key is revoked.`;
    throw new Failure(kind, told, next, { cause: error, details: { keyId: id } });
  }
}
