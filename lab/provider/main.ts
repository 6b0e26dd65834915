import { parseArgs } from 'node:util';
import { startLabProvider } from './start.js';

const USAGE = `The lab's GPU provider, on loopback.
  tsx lab/provider/main.ts --data-dir <folder> --api-key <key> [--port 8090] [--host 127.0.0.1] [--boot-ms 2000]`;

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    'api-key': { type: 'string' },
    port: { type: 'string', default: '8090' },
    host: { type: 'string', default: '127.0.0.1' },
    'boot-ms': { type: 'string', default: '2000' },
  },
});
const dataDir = values['data-dir'];
const apiKey = values['api-key'];
const port = Number(values.port);
const bootMs = Number(values['boot-ms']);

if (!dataDir || !apiKey || !Number.isInteger(port) || !Number.isInteger(bootMs)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  const provider = await startLabProvider({ dataDir, apiKey, port, bootMs, host: values.host });
  console.log(`lab provider: ${provider.url} (pods live in ${provider.homesDir})`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void provider.close());
  }
}
