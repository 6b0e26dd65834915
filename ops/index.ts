import { runCommand } from './program.js';

/** The operators' command line: `npm run ops -- <command>`. */
process.exitCode = await runCommand(process.argv.slice(2));
