import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../adapters/ids.js';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { post } from '../money/ledger/post.js';
import { lockWalletOfUser } from '../money/ledger/wallets.js';
import { insertSession } from '../adapters/postgres/accounts/sessions.js';
import type { UserId } from '../domain/ids.js';
import { findStackPorts } from '../lab/stack/ports.js';
import { readStackSettings } from '../lab/stack/settings.js';
import { startStack, type Stack } from '../lab/stack/start.js';
import { notePostgres } from './report.js';
import { until } from '../test/support/until.js';

export interface BenchStack {
  readonly stack: Stack;
  readonly db: Database;
  stop(): Promise<void>;
}

/** A benchmark sends in seconds what a client may send in an hour, so its limits are high. The counting stays on. */
const unlimited = {
  API_READS_PER_MINUTE: '1000000000',
  API_USER_READS_PER_MINUTE: '1000000000',
  API_CHANGES_PER_MINUTE: '1000000000',
  API_STRANGERS_PER_MINUTE: '1000000000',
};

/**
 * Starts the whole service on free ports with its own data, as `npm start` does, and waits until there is something to
 * rent.
 * @param external variables that name servers which run already
 */
export async function startBenchStack(
  external?: Readonly<Record<'TEMPORAL_ADDRESS', string>>,
): Promise<BenchStack> {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-bench-'));
  const settings = readStackSettings({
    ...process.env,
    ...unlimited,
    ...(await findStackPorts()),
    ...external,
    LAB_DATA_DIR: folder,
  });
  const stack = await startStack({ settings, isSized: true, log: (line) => console.error(line) });
  const db = openDatabase(stack.urls.database, 4, 'bench');
  await notePostgres(db);
  await until('the catalogs of all upstreams are read', async () => {
    const providers = await db('providers').select('catalog_synced_at');
    return providers.length > 0 && providers.every((provider) => provider.catalog_synced_at !== null);
  });
  return {
    stack,
    db,
    stop: async () => {
      await db.destroy();
      await stack.stop();
      if (stack.postgresDir !== null) rmSync(stack.postgresDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Inserts a user with a session and money. @returns the cookie to send */
export async function insertRichUser(
  db: Database,
  cents: number,
): Promise<{ userId: UserId; cookie: string }> {
  const userId = newId('usr');
  return db.transaction(async (trx) => {
    await trx('users').insert({ id: userId, email: `${userId.toLowerCase()}@example.com` });
    await trx('wallets').insert({ user_id: userId });
    const wallet = await lockWalletOfUser(trx, userId);
    await post(trx, wallet, {
      type: 'processor_topup',
      availableCents: cents,
      cause: { kind: 'payment', paymentId: `bench-${userId}` },
    });
    const { token } = await insertSession(trx, userId, { by: 'email' });
    return { userId, cookie: `sid=${token}` };
  });
}

/**
 * Rents a machine through the API. What an upstream offers comes and goes, so it asks until there is one.
 * @returns the rental's id
 * @throws Error with the last refusal
 */
export async function rent(
  { stack }: BenchStack,
  cookie: string,
  wish: { readonly familyId: string; readonly gpuCount: number },
): Promise<string> {
  let refusal = '';
  const ask = async (): Promise<string | false> => {
    const response = await fetch(`${stack.urls.api}/v1/rentals`, {
      method: 'POST',
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify(wish),
    });
    if (response.status === 200) return ((await response.json()) as { id: string }).id;
    refusal = await response.text();
    return false;
  };
  return until('a machine is there to be rented', ask).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${refusal}`);
  });
}
