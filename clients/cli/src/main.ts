import type { Cli } from './cli.js';
import { exitCodes } from './exit-codes.js';
import { explainFailure } from './explain-failure.js';
import { Failure } from './failure.js';
import { runGpu } from './program.js';
import { committed } from './standing.js';
import { realSurroundings } from './surroundings.js';
import { tellFailure } from './tell-failure.js';

const stopping = new AbortController();
const state: { askedAtMs: number | undefined; cli: Cli | undefined } = {
  askedAtMs: undefined,
  cli: undefined,
};

// The first ctrl-C is told to the command, which says what exists by now; the second one ends it at once. A terminal
// and what stands between it and this process may each pass on the same one.
const sameSignalMs = 300;
function onSignal(): void {
  const nowMs = Date.now();
  if (state.askedAtMs === undefined) {
    state.askedAtMs = nowMs;
    stopping.abort(new Error('Cancelled.'));
  } else if (nowMs - state.askedAtMs > sameSignalMs) endNow(state.cli);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

/** Who does not wait for an answer still hears what may come of it. */
function endNow(cli: Cli | undefined): never {
  if (cli?.standing === undefined) process.exit(exitCodes.givenUp);
  const why = explainFailure(new Failure('givenUp', 'Cancelled.'), cli, true);
  tellFailure(committed(why, cli.standing), {
    surroundings: cli.surroundings,
    isJson: cli.options.json ?? false,
  });
  process.exit(exitCodes.committed);
}

// Warnings of the platform are for whoever writes programs, and would stand beside a failure in JSON.
process.removeAllListeners('warning');

// A reader that leaves after the command has ended changes nothing: what is lost meanwhile is seen there.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runGpu(process.argv.slice(2), realSurroundings(stopping.signal), (cli) => {
  state.cli = cli;
});
