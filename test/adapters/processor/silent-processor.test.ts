import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';

describe('a processor whose answer never ends', () => {
  it('is given up by a limit for the whole call: what it did is unknown', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const processor = createStripeProcessor({ secretKey: 'sk_test_x', apiUrl, timeoutMs: 300 });
      await assert.rejects(processor.getPayment('pi_1'), { name: 'ProcessorError', kind: 'unknown' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
