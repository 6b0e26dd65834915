import { openDatabase } from '../adapters/postgres/database.js';
import { readConfig, type Config } from '../config.js';
import { runCommand } from './program.js';

/** No command uses these two: at night nobody should have to look them up. */
function readOpsConfig(): Config {
  return readConfig({ DASHBOARD_URL: 'http://127.0.0.1', SMTP_URL: 'smtp://127.0.0.1', ...process.env });
}

/** The operators' command line: `npm run ops -- <command>`. */
process.exitCode = await runCommand(process.argv.slice(2), {
  open: () => {
    const { url, role } = readOpsConfig().database;
    return openDatabase(url, 2, 'ops', role);
  },
  openAsOwner: () => openDatabase(readOpsConfig().database.url, 1, 'ops'),
  temporal: () => readOpsConfig().temporal,
  shards: () => readOpsConfig().meter.shards,
});
