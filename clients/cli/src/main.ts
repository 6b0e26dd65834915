import { runGpu } from './program.js';
import { exitCodes } from './exit-codes.js';
import { realSurroundings } from './surroundings.js';

const stopping = new AbortController();

// The first ctrl-C is told to the command, which says what exists by now; the second one ends it at once. A terminal
// and what stands between it and this process may each pass on the same one.
const sameSignalMs = 300;
const state: { askedAtMs: number | undefined } = { askedAtMs: undefined };
function onSignal(): void {
  const nowMs = Date.now();
  if (state.askedAtMs === undefined) {
    state.askedAtMs = nowMs;
    stopping.abort(new Error('Given up.'));
  } else if (nowMs - state.askedAtMs > sameSignalMs) process.exit(exitCodes.givenUp);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

// A reader of the first lines only ("| head") closes the pipe.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.done);
    throw error;
  });
}

process.exitCode = await runGpu(process.argv.slice(2), realSurroundings(stopping.signal));
