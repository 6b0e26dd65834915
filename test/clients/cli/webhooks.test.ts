import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook } from '@gpu-rental/client';
import { isUsual } from '../../../clients/cli/src/commands/tools/webhooks.js';
import { exitCodes } from '../../../clients/cli/src/exit-codes.js';
import { eventTypes } from '../../../domain/events/events.js';
import { wantedTypes } from '../../../domain/webhooks/webhook.js';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { until } from '../../support/until.js';
import type { Ran, RunOptions } from './support/gpu.js';
import { Person } from './support/person.js';
import { gpuFile, keys, Terminal } from './support/terminal.js';

describe('gpu webhooks listen', () => {
  let mock: MockServer;
  let ann: Person;
  let receiver: Server;
  let url: string;
  const received: { body: string; headers: IncomingMessage['headers'] }[] = [];
  const answer = { status: 204 };

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, endMs: 20 } });
    ann = await Person.at(mock);
    await ann.pay(20);
    receiver = createServer((request, response) => {
      void request.toArray().then((chunks) => {
        received.push({ body: Buffer.concat(chunks as Buffer[]).toString(), headers: request.headers });
        response.writeHead(answer.status).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  });
  beforeEach(() => {
    received.splice(0);
    answer.status = 204;
  });
  after(async () => {
    receiver.close();
    receiver.closeAllConnections();
    await mock.stop();
  });

  /** Listens while something is done. */
  async function listening(line: string, act: () => Promise<void>, options: RunOptions = {}): Promise<Ran> {
    const ctrlC = new AbortController();
    const seen = { all: '' };
    const ran = ann.type(`webhooks listen ${line}`, {
      ...options,
      signal: ctrlC.signal,
      onOutput: (all) => (seen.all = all),
    });
    try {
      await until('it listens', () => seen.all.includes('Listening') || seen.all.includes('"seq"'));
      await act();
    } finally {
      ctrlC.abort(new Error('ctrl-C'));
    }
    return ran;
  }

  async function rentAndStop(): Promise<void> {
    const id = await ann.rent();
    await ann.type(`stop ${id}`);
    await until('the end has arrived', () => received.some(({ body }) => body.includes('rental.stopped')));
  }

  it('hands on what happens, in order and signed as a real webhook is, and prints what it was answered', async () => {
    const { code, out, err } = await listening(`--forward-to ${url}`, rentAndStop);
    assert.equal(code, 0, err);
    const secret = /Signing secret: (whsec_\S+)/.exec(err)![1]!;
    const types = received.map(({ body, headers }) => {
      const event = new Webhook(secret).verify(body, headers as Record<string, string>) as {
        id: string;
        type: string;
      };
      assert.equal(headers['webhook-id'], event.id);
      return event.type;
    });
    assert.deepEqual(types, [
      ...['rental.created', 'rental.machine_found', 'rental.ssh_answered', 'rental.running'],
      ...['rental.stopping', 'rental.stopped'],
    ]);
    const event = await verifyWebhook(received[0]!.body, received[0]!.headers, [secret]);
    assert.equal((event as { type: string }).type, 'rental.created');
    assert.throws(() =>
      new Webhook(`whsec_${'A'.repeat(43)}=`).verify(
        received[0]!.body,
        received[0]!.headers as Record<string, string>,
      ),
    );
    assert.match(out, /^\d\d:\d\d:\d\d {2}rental\.created +204 in \d+ ms\n/);
  });

  it('signs with the same secret the next time, and prints it alone', async () => {
    const first = await ann.type('webhooks listen --print-secret');
    assert.match(first.out, /^whsec_[A-Za-z0-9+/]{43}=\n$/);
    assert.deepEqual(await ann.type('webhooks listen --print-secret'), first);
  });

  it('signs with a secret of the user’s own, which is no argument', async () => {
    const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const printed = await ann.type('webhooks listen --secret --print-secret', { input: `${own}\n` });
    assert.deepEqual([printed.code, printed.out], [0, `${own}\n`], printed.err);
    const kept = await ann.type('webhooks listen --print-secret');
    assert.notEqual(kept.out, printed.out, 'it is not kept');
    for (const line of [`--secret ${own}`, `--secret=${own}`]) {
      const { code, out, err } = await ann.type(`webhooks listen ${line} --print-secret`);
      assert.equal(code, exitCodes.usage);
      assert.ok(!(out + err).includes(own), err);
    }
    const wrong = await ann.type('webhooks listen --secret', { input: 'none' });
    assert.equal(wrong.code, exitCodes.usage);
    assert.match(wrong.err, /^That is not a webhook secret\./);
  });

  it('hands on the types that a webhook without types gets', () => {
    assert.deepEqual(
      eventTypes.filter((type) => !isUsual({ type })),
      wantedTypes([]).except,
    );
  });

  it('goes on when the receiver fails or is away, and says so', async () => {
    answer.status = 500;
    const failing = await listening(`--forward-to ${url} --types rental.stopped`, rentAndStop);
    assert.match(failing.out, /rental\.stopped +500 in/);
    const away = await listening(
      '--forward-to http://127.0.0.1:9 --types rental.created,rental.stopped',
      async () => {
        const id = await ann.rent();
        await ann.type(`stop ${id}`);
        await until(
          'both are told',
          async () => (await ann.json<{ rentals: object[] }>('ls')).rentals.length === 0,
        );
      },
    );
    assert.equal(away.code, 0);
    assert.match(away.out, /rental\.created +no answer: /);
  });

  it('hands on what came after an event, and only the named types', async () => {
    const { code } = await listening(`--forward-to ${url} --types rental.stopped --after 0`, async () => {
      await until('all of before have arrived', () => received.length >= 3);
    });
    assert.equal(code, 0);
    assert.ok(received.every(({ body }) => (JSON.parse(body) as { type: string }).type === 'rental.stopped'));
  });

  it('ends by ctrl-C at a terminal, also after it has handed events on', async () => {
    const terminal = new Terminal(`${gpuFile} webhooks listen --forward-to ${url}`, {
      env: { HOME: ann.home, GPU_API_URL: mock.url, GPU_API_KEY: ann.apiKey ?? '' },
    });
    try {
      await terminal.sees('Listening, and sending events to');
      await rentAndStop();
      await terminal.sees(/rental\.stopped +204/);
      terminal.press(keys.ctrlC);
      assert.equal(await terminal.ended(), 0, terminal.shown);
    } finally {
      terminal.kill();
    }
  });

  it('only shows them without an address, a JSON object on each line for programs', async () => {
    const { out } = await listening('--after 0 --json', async () => {
      await until('they have come', () => Promise.resolve(true));
    });
    for (const line of out.trim().split('\n'))
      assert.equal(typeof (JSON.parse(line) as { event: { seq: number } }).event.seq, 'number');
  });
});
