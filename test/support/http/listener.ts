import { openDatabase } from '../../../adapters/postgres/database.js';
import { createLog } from '../../../adapters/log.js';
import { createMachineDesk, type MachineDesk } from '../../../adapters/postgres/machines/machine-tokens.js';
import { startServer } from '../../../api/server.js';
import type { AddressInfo } from 'node:net';
import { createListener, type ListenerDeps } from '../../../listener/app.js';
import { databaseRoles } from '../../../migrations/roles.js';

/** The listener that machines call, over real HTTP on loopback, with the rights of its own role. */
export interface TestListener {
  readonly url: string;
  /** Everything that it wrote into its log. */
  readonly logged: string[];
  stop(): Promise<void>;
}

/** @param options.wrapDesk puts a layer before the database */
export async function startTestListener(
  databaseUrl: string,
  options: Partial<ListenerDeps> & { readonly wrapDesk?: (desk: MachineDesk) => MachineDesk } = {},
): Promise<TestListener> {
  const db = openDatabase(databaseUrl, 4, 'test-listener', databaseRoles.machine);
  const logged: string[] = [];
  const log = createLog({
    ...{ level: 'trace', service: 'listener' },
    destination: { write: (line: string) => void logged.push(line) },
  });
  const { wrapDesk = (desk: MachineDesk) => desk, ...deps } = options;
  const app = createListener({
    desk: wrapDesk(createMachineDesk(db)),
    log,
    trustProxy: false,
    perMinuteOfAddress: 10_000,
    ...deps,
  });
  const server = await startServer(app.callback(), { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    logged,
    async stop() {
      await server.stop(1_000);
      await db.destroy();
    },
  };
}
