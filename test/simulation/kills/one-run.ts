import { runKills } from './run-kills.js';

/** Runs the kills of one dialect and writes its report as one line: `one-run.ts <options as JSON>`. */
const options = JSON.parse(process.argv[2] ?? '{}') as Parameters<typeof runKills>[0];
process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled: ${error instanceof Error ? error.stack : String(error)}\n`);
});
const report = await runKills(options);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
