import { parseArgs } from 'node:util';
import { startLabProcessor } from './server.js';

const usage = `Starts the lab's payment processor.
  --data-dir <path>        where its state lives (required)
  --port <n>               default 12111
  --host <address>         default 127.0.0.1
  --secret-key <key>       default sk_test_lab
  --publishable-key <key>  default pk_test_lab
  --webhook-url <url>      where events are sent; needs --webhook-secret
  --webhook-secret <text>  signs them, for example whsec_lab`;

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    port: { type: 'string', default: '12111' },
    host: { type: 'string', default: '127.0.0.1' },
    'secret-key': { type: 'string', default: 'sk_test_lab' },
    'publishable-key': { type: 'string', default: 'pk_test_lab' },
    'webhook-url': { type: 'string' },
    'webhook-secret': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const dataDir = values['data-dir'];
const url = values['webhook-url'];
const secret = values['webhook-secret'];
if (values.help || dataDir === undefined || (url === undefined) !== (secret === undefined)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const processor = await startLabProcessor({
  port: Number(values.port),
  host: values.host,
  dataDir,
  secretKey: values['secret-key'],
  publishableKey: values['publishable-key'],
  webhook: url === undefined || secret === undefined ? null : { url, secret },
}).catch((error: unknown) => {
  console.error(`payment processor: could not start (${String(error)}). Try another --port or --data-dir.`);
  process.exit(1);
});
console.log(`payment processor: ${processor.url}`);

const stop = (): void => {
  void processor.close().then(() => process.exit(0));
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
