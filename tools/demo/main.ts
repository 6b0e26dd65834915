import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Stack } from '../../lab/stack/start.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { findOrStartStack } from './host-stack.js';
import { StoryError } from './story-error.js';
import { openStage, parts, playStory } from './story.js';

/** A terminal and the programs between it and this process may each pass on the same Ctrl-C. */
const sameSignalMs = 500;

const stopping = new AbortController();
const state: { own: Stack | undefined; askedAtMs: number | undefined } = {
  own: undefined,
  askedAtMs: undefined,
};

function onSignal(): void {
  if (state.askedAtMs === undefined) {
    state.askedAtMs = Date.now();
    console.log('\nStopping. A second Ctrl-C kills everything at once.');
    stopping.abort(new Error('The demo was given up.'));
    return;
  }
  if (Date.now() - state.askedAtMs < sameSignalMs) return;
  state.own?.kill();
  process.exit(130);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

const log = (line: string) => console.log(line);

/** Whose dialect the lab speaks: --dialect vast. */
function readDialect(): string {
  const { values } = parseArgs({ options: { dialect: { type: 'string', default: 'shadeform' } } });
  if (values.dialect in parts) return values.dialect;
  throw new Error(`--dialect must be one of ${Object.keys(parts).join(', ')}, not "${values.dialect}".`);
}

async function play(): Promise<void> {
  const startedAtMs = Date.now();
  const dialect = readDialect();
  // A stack that runs already speaks what it was started with.
  const settings = readStackSettings({ ...process.env, LAB_PROVIDER_DIALECTS: dialect });
  const { urls, own, dashboardUrl } = await findOrStartStack(settings, log, stopping.signal);
  state.own = own;
  try {
    await playStory(openStage({ urls, log, startedAtMs, signal: stopping.signal }), parts[dialect]);
    if (dashboardUrl !== null) log(`People do all of this in the dashboard: ${dashboardUrl}`);
  } catch (error) {
    if (error instanceof StoryError) log(`The logs are in ${join(settings.dataDir, 'logs')}.`);
    throw error;
  } finally {
    await own?.stop();
  }
}

try {
  await play();
  if (state.own) console.log('Stopped. "npm start" brings the same up again to stay.');
} catch (error) {
  const givenUp = stopping.signal.aborted;
  console.error(givenUp ? 'Given up.' : error instanceof Error ? error.message : error);
  process.exitCode = givenUp ? 130 : 1;
}
