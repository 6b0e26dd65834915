import { openDatabase } from '../adapters/postgres/database.js';
import { readConfig } from '../config.js';
import { runCommand } from './program.js';

/** The operators' command line: `npm run ops -- <command>`. */
process.exitCode = await runCommand(process.argv.slice(2), {
  open: () => {
    const { url, role } = readConfig().database;
    return openDatabase(url, 2, 'ops', role);
  },
  temporal: () => readConfig().temporal,
  shards: () => readConfig().meter.shards,
});
