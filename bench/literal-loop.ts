import { mkdtempSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { Database } from '../adapters/postgres/database.js';
import { meterWallets } from '../money/metering/meter.js';
import { findTemporalCli } from '../lab/servers/temporal-cli.js';
import { startTemporal } from '../lab/servers/temporal.js';
import { findFreePorts } from '../lab/stack/ports.js';
import { readStackSettings } from '../lab/stack/settings.js';
import { clearFleet, seedFleet } from './fleet.js';
import { round } from './report.js';
import type { BenchServer } from './server.js';

const rentals = 50;
const windowSeconds = 15;

/**
 * Measures how many rental-seconds a second the literal loop completes, with the same SQL for each wallet. It replaces
 * the fleet by its own.
 */
export async function measureLiteralLoop(server: BenchServer): Promise<number> {
  await clearFleet(server.db);
  await seedFleet(server.db, rentals, 'every-second');
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-bench-'));
  const { cliPlaces, env } = readStackSettings();
  const cliPath = await findTemporalCli({
    places: cliPlaces,
    log: (line) => console.error(line),
    mayFetch: true,
  });
  const [port = 0] = await findFreePorts(1);
  const temporal = await startTemporal({
    cliPath,
    port,
    uiPort: undefined,
    dbFile: join(folder, 'temporal.db'),
    namespace: 'default',
    searchAttributes: [],
    logFile: join(folder, 'temporal.log'),
    env,
  });
  try {
    return await run(server.db, `127.0.0.1:${port}`);
  } finally {
    await temporal.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(db: Database, address: string): Promise<number> {
  const connection = await NativeConnection.connect({ address });
  const client = new Client({ connection: await Connection.connect({ address }) });
  const done = { count: 0 };
  const worker = await Worker.create({
    connection,
    taskQueue: 'literal',
    workflowsPath: fileURLToPath(new URL('./literal-workflows.ts', import.meta.url)),
    activities: {
      meterOne: async (no: number) => {
        await meterOne(db, no);
        done.count += 1;
      },
    },
  });
  const ticksPerSecond = await worker.runUntil(async () => {
    const handles = await Promise.all(
      Array.from({ length: rentals }, (_, index) =>
        client.workflow.start('literalMeter', {
          workflowId: `literal-${index + 1}`,
          taskQueue: 'literal',
          args: [index + 1],
        }),
      ),
    );
    // Waits until all of them run; then counts what completes in a window.
    await sleep(5_000);
    const before = done.count;
    const begun = performance.now();
    await sleep(windowSeconds * 1_000);
    const perSecond = ((done.count - before) * 1_000) / (performance.now() - begun);
    await Promise.all(handles.map((handle) => handle.terminate()));
    return round(perSecond, 1);
  });
  await Promise.all([connection.close(), client.connection.close()]);
  return ticksPerSecond;
}

async function meterOne(db: Database, rentalNo: number): Promise<void> {
  await db.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: { id: number }[] }>(
      `select id from wallets where id = (select wallet_id from rentals where no = ?) for no key update`,
      [rentalNo],
    );
    await meterWallets(
      trx,
      rows.map((row) => row.id),
    );
  });
}
