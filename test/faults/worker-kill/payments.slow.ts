import { sealingKeys } from '../../support/http/api.js';
import { KilledWorker } from '../../support/service/killed-worker.js';
import { Paying } from '../../support/story/paying.js';
import { describeAutoTopup } from './auto-topup.js';
import { describeCharge } from './charge.js';
import { describeInvoice } from './invoice.js';
import { describeOperation } from './operation.js';
import { describeRefunds } from './refunds.js';
import { describeWebhooks } from './webhooks.js';

describe('money and messages, when a worker is killed', () => {
  const world = new KilledWorker({}, () => ({
    // Without a port it would be the host of each receiver, and nothing is sent to our own.
    DASHBOARD_URL: 'http://127.0.0.1:9',
    WEBHOOK_PUBLIC_KEY: sealingKeys.publicKey,
    WEBHOOK_PRIVATE_KEYS: sealingKeys.privateKey,
  }));

  before(() => world.start());
  beforeEach(() => world.startWorker());
  afterEach(() => new Paying(world.service).clearFaults());
  after(() => world.stop());

  describeAutoTopup(world);
  describeCharge(world);
  describeInvoice(world);
  describeOperation(world);
  describeRefunds(world);
  describeWebhooks(world);
});
