import { join } from 'node:path';
import { readStackSettings } from '../stack/settings.js';
import { startMailInbox } from './index.js';

const { ports, dataDir } = readStackSettings();
const inbox = await startMailInbox({
  smtpPort: ports.smtp,
  httpPort: ports.mail,
  dataDir: join(dataDir, 'mail'),
});
console.log(`mail inbox at ${inbox.url}, mail server at ${inbox.smtpUrl}`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void inbox.close());
}
