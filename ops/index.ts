import { openDatabase, processName } from '../adapters/postgres/database.js';
import { ConfigError, readConfig, type Config } from '../config.js';
import { opsEnvironment, type OpsEnvironment } from './local-stack.js';
import { runCommand } from './program.js';

/** No command uses these: nobody should have to look them up at night. */
const unused = { DASHBOARD_URL: 'http://127.0.0.1', SMTP_URL: 'smtp://127.0.0.1' };

/** The operators' command line: `npm run ops -- <command>`. */
async function main(): Promise<number> {
  const { env, ownerUrl, argv }: OpsEnvironment = opsEnvironment(process.env, process.argv.slice(2));
  const read = (more: NodeJS.ProcessEnv = {}): Config => {
    try {
      return readConfig({ ...unused, ...more, ...env });
    } catch (error) {
      if (!(error instanceof ConfigError) || env['DATABASE_URL']) throw error;
      throw new Error(
        `${error.message}\nNo local stack is running on this folder's data either: start one with "npm start".`,
        { cause: error },
      );
    }
  };
  // Commands that need the database alone work where Temporal is not configured.
  const withoutTemporal = { TEMPORAL_ADDRESS: '127.0.0.1:7233' };
  return runCommand(argv, {
    open: () => {
      const { url, role } = read(withoutTemporal).database;
      return openDatabase(url, 2, processName('ops'), role);
    },
    openAsOwner: () => openDatabase(ownerUrl ?? read(withoutTemporal).database.url, 1, processName('ops')),
    temporal: () => read().temporal(),
    ui: () => read(withoutTemporal).temporal(),
    shards: () => read(withoutTemporal).meter.shards,
  });
}

// A reader of the first lines only ("| head") closes the pipe: the command goes on, and its exit code stays its own.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
