import { describeStack } from './stack/story.js';
import { readStackSettings } from './stack/settings.js';
import { startStack, type Stack } from './stack/start.js';

/** A terminal and the programs between it and this process may each pass on the same Ctrl-C. */
const sameSignalMs = 500;

const stopping = new AbortController();
const state: { stack: Stack | undefined; askedAt: number | undefined } = {
  stack: undefined,
  askedAt: undefined,
};

function onSignal(): void {
  if (state.askedAt === undefined) {
    state.askedAt = Date.now();
    console.log('\nStopping. A second Ctrl-C kills everything at once.');
    stopping.abort(new Error('The start was given up.'));
    return;
  }
  if (Date.now() - state.askedAt < sameSignalMs) return;
  console.log('Killing everything.');
  state.stack?.kill();
  // The keeper ends what no stack knows of yet (servers/keeper.ts).
  process.exit(130);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

const log = (line: string) => console.log(line);

try {
  const stack = await startStack({
    settings: readStackSettings(),
    isSized: true,
    log,
    signal: stopping.signal,
  });
  state.stack = stack;
  if (!stopping.signal.aborted) console.log(describeStack(stack));
  await new Promise<void>((resolve) => {
    if (stopping.signal.aborted) resolve();
    stopping.signal.addEventListener('abort', () => resolve());
  });
  await stack.stop();
  console.log('Stopped. The data stays; "npm start" goes on with it, "npm run reset" removes it.');
} catch (error) {
  const givenUp = stopping.signal.aborted;
  console.error(givenUp ? 'Stopped before all was up.' : error instanceof Error ? error.message : error);
  process.exitCode = givenUp ? 130 : 1;
}
