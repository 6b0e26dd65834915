import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Stripe from 'stripe';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { startLabProcessor, type LabProcessor } from '../../../lab/processor/server.js';

export const secretKey = 'sk_test_workbench';
export const publishableKey = 'pk_test_workbench';
export const webhookSecret = 'whsec_workbench';

/** One delivery as received, raw. */
export interface Received {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly type: string;
  readonly eventId: string;
}

/** A local endpoint for webhooks that records deliveries and answers as a test scripts it. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The statuses of the next answers; 200 once they are used up. */
  readonly answers: number[];
  /** Waits for the n-th delivery that fits. */
  waitFor(fits: (delivery: Received) => boolean, count?: number): Promise<Received[]>;
  close(): Promise<void>;
}

/**
 * In milliseconds. It is long because a busy machine is no fault of the tested code; every wait ends as early as it
 * can.
 */
const patienceMs = 10_000;

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const event = JSON.parse(body.toString('utf8')) as { id: string; type: string };
      received.push({ body, headers: request.headers, type: event.type, eventId: event.id });
      response.writeHead(answers.shift() ?? 200).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    received,
    answers,
    async waitFor(fits, count = 1) {
      const found = (): Received[] => received.filter(fits);
      await until(() => found().length >= count, `${count} deliveries that fit`);
      return found();
    },
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Waits until a condition holds. Throws when it does not hold in time. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export interface Workbench {
  readonly lab: LabProcessor;
  readonly receiver: Receiver;
  /** The official SDK without retries of its own. */
  readonly stripe: Stripe;
  /** The service's own client. */
  readonly processor: ReturnType<typeof createStripeProcessor>;
  order(fault: Record<string, unknown>): Promise<void>;
  state(): Promise<LabState>;
  /** Stops the simulator and starts it anew with the same state. */
  restart(options?: { clock?: () => number }): Promise<void>;
  stop(): Promise<void>;
}

export interface LabState {
  readonly customers: Stripe.Customer[];
  readonly payment_intents: Stripe.PaymentIntent[];
  readonly charges: Stripe.Charge[];
  readonly checkout_sessions: Stripe.Checkout.Session[];
  readonly events: Stripe.Event[];
  readonly deliveries: { eventId: string; state: string; attempts: number }[];
  readonly requests: { method: string; path: string; idempotencyKey: string | null; status: number }[];
}

/** A simulator on a free port with its own state, a receiver for its webhooks, and both clients. */
export async function startWorkbench(
  options: { retryDelaysMs?: readonly number[]; clock?: () => number } = {},
): Promise<Workbench> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'lab-processor-'));
  const receiver = await startReceiver();
  const start = (clock = options.clock): Promise<LabProcessor> =>
    startLabProcessor({
      port: 0,
      dataDir,
      secretKey,
      publishableKey,
      webhook: { url: receiver.url, secret: webhookSecret },
      retryDelaysMs: options.retryDelaysMs ?? [5, 10, 20],
      ...(clock === undefined ? {} : { clock }),
    });
  let lab = await start();
  const clients = (): Pick<Workbench, 'lab' | 'stripe' | 'processor'> => ({
    lab,
    stripe: new Stripe(secretKey, {
      host: '127.0.0.1',
      port: lab.port,
      protocol: 'http',
      maxNetworkRetries: 0,
      telemetry: false,
    }),
    processor: createStripeProcessor({ secretKey, apiUrl: lab.url, timeoutMs: 10_000 }),
  });
  const bench: Workbench = {
    ...clients(),
    receiver,
    async order(fault) {
      const response = await fetch(`${lab.url}/lab/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(fault),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    async state() {
      return (await (await fetch(`${lab.url}/lab/state`)).json()) as LabState;
    },
    async restart(again = {}) {
      await lab.close();
      lab = await start(again.clock);
      Object.assign(bench, clients());
    },
    async stop() {
      await lab.close();
      await receiver.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return bench;
}

export const cards = {
  good: '4242 4242 4242 4242',
  declined: '4000000000000002',
  insufficientFunds: '4000000000009995',
  expired: '4000000000000069',
  authentication: '4000002500003155',
};

/** Pays a hosted page as a browser does, by posting its form; redirects are not followed. */
export function payPage(
  url: string,
  cardNumber: string,
  fields: Record<string, string> = {},
): Promise<Response> {
  return postForm(url, { cardNumber, cardExpiry: '12/34', cardCvc: '123', ...fields });
}

export function postForm(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
}
