import { runSeed } from './run.js';

/** Runs one seed and writes its report as one line: `one-run.ts <options as JSON>`. */
const options = JSON.parse(process.argv[2] ?? '{}') as Parameters<typeof runSeed>[0];
process.on('unhandledRejection', (error) => {
  process.stderr.write(`unhandled: ${error instanceof Error ? error.stack : String(error)}\n`);
});
const report = await runSeed(options);
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0));
