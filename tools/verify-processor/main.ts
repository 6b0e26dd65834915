import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { createStripeProcessor } from '../../adapters/processor/stripe.js';
import { startLabProcessor } from '../../lab/processor/server.js';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { readApiDescription } from './api-description.js';
import { checkEvent, checkExchange, replay, wasTaken, type Finding } from './checks.js';
import { startRecordingProxy, type Exchange } from './recording-proxy.js';
import { findStripeMock, startStripeMock } from './stripe-mock.js';
import { tellStory } from './story.js';

/**
 * Checks our requests, and the simulator's answers, against the processor's own description of its API and against
 * stripe-mock, which refuses a request that does not fit. Ends with 1 when anything does not fit.
 */
interface Recording {
  readonly exchanges: readonly Exchange[];
  readonly events: readonly { readonly type: string }[];
}

const secretKey = 'sk_test_verified';

/** Runs the story once against a separate simulator, through a proxy that records the exchanges. */
async function record(folder: string): Promise<Recording> {
  const lab = await startLabProcessor({
    port: 0,
    dataDir: join(folder, 'processor'),
    secretKey,
    publishableKey: 'pk_test_verified',
    webhook: null,
  });
  const proxy = await startRecordingProxy(lab.url);
  try {
    const { hostname: host, port } = new URL(proxy.url);
    await tellStory({
      processor: createStripeProcessor({ secretKey, apiUrl: proxy.url, timeoutMs: 30_000 }),
      stripe: new Stripe(secretKey, { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false }),
      labUrl: lab.url,
    });
    const state = (await (await fetch(`${lab.url}/lab/state`)).json()) as Pick<Recording, 'events'>;
    return { exchanges: proxy.exchanges, events: state.events };
  } finally {
    await proxy.close();
    await lab.close();
  }
}

async function verify(specFile: string, mock: string, folder: string): Promise<boolean> {
  const api = readApiDescription(specFile);
  if (api.version !== Stripe.API_VERSION) {
    throw new Error(
      `The description is of ${api.version}, the SDK speaks ${Stripe.API_VERSION}: pin both alike.`,
    );
  }
  const { exchanges, events } = await record(folder);
  const findings: Finding[] = [];
  for (const exchange of exchanges) findings.push(...checkExchange(api, exchange));
  for (const event of events) findings.push(...checkEvent(api, event));
  const { program, url } = await startStripeMock(mock, join(folder, 'stripe-mock.log'));
  try {
    for (const exchange of exchanges) findings.push(...(await replay(exchange, url)));
  } finally {
    await program.stop();
  }
  const lines = new Set(findings.map(({ where, reason }) => `${where}: ${reason}`));
  for (const line of lines) console.log(line);
  const replayed = exchanges.filter(wasTaken).length;
  console.log(
    `verify:processor: ${exchanges.length} requests with their answers and ${events.length} events checked, ` +
      `${replayed} requests replayed to stripe-mock, ${lines.size} findings`,
  );
  return lines.size === 0;
}

const settings = readStackSettings();
const folder = mkdtempSync(join(tmpdir(), 'verify-processor-'));
try {
  const mock = await findStripeMock(settings.cliPlaces, console.log);
  if (mock === undefined) {
    console.log('verify:processor was left out: there is no "go" on the PATH. Install Go and run it again.');
    process.exitCode = LEFT_OUT;
  } else if (!(await verify(mock.specFile, mock.program, folder))) {
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
