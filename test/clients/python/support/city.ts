import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { delimiter, join } from 'node:path';
import { startMock, type MockServer } from '../../../../lab/mock/server.js';
import { ApiClient } from '../../../support/http/api.js';
import { until } from '../../../support/until.js';
import { SshMachine } from '../../cli/support/ssh-machine.js';

/**
 * What becomes of an answer on its way: it goes on, waits for a second, is lost, or says that its work goes on. What is
 * refused is never passed on, and its answer waits in `held`; what is turned away is answered at once.
 */
export type Fate = 'passes' | 'waits' | 'is lost' | 'is in progress' | 'is refused' | 'is turned away';

/** The mock with machines that can be entered: each is this computer, on which `nvidia-smi` answers. */
export class City {
  /** What becomes of the next answers, by method and path without its query; the rest passes. */
  readonly fates = new Map<string, Fate[]>();
  readonly arrived: string[] = [];
  /** Lets the refusals go, in the order of their requests. */
  readonly held: (() => void)[] = [];
  key = '';
  readonly session: ApiClient;
  readonly #path = process.env['PATH'] ?? '';
  readonly #bin = mkdtempSync(join(tmpdir(), 'gpu-rental-bin-'));

  private constructor(
    readonly mock: MockServer,
    readonly machine: SshMachine,
    readonly server: Server,
  ) {
    this.session = new ApiClient(mock.url);
  }

  static async start(provisionMs = 50): Promise<City> {
    const mock = await startMock({ port: 0, durations: { provisionMs, tickMs: 100, endMs: 50 } });
    const machine = await SshMachine.start();
    const server = createServer();
    const city = new City(mock, machine, server);
    server.on('request', (request, response) => void city.#pass(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await city.signIn('ann@example.com');
    writeFileSync(join(city.#bin, 'nvidia-smi'), '#!/bin/sh\necho "NVIDIA-SMI $*"\n');
    chmodSync(join(city.#bin, 'nvidia-smi'), 0o755);
    process.env['PATH'] = `${city.#bin}${delimiter}${city.#path}`;
    return city;
  }

  /** Goes on as somebody with a full wallet. */
  async signIn(email: string): Promise<void> {
    await this.session.post('/v1/auth/verify-code', { email, code: '123456' });
    const asked = { name: 'test', scopes: ['read', 'rentals', 'billing'] };
    this.key = ((await this.session.post('/v1/api-keys', asked)).body as unknown as { key: string }).key;
    const { body } = await this.session.post('/v1/billing/checkout', { amountCents: 90_000 });
    await fetch(body.checkoutUrl, { redirect: 'manual' });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get env(): NodeJS.ProcessEnv {
    return { ...process.env, GPU_API_URL: this.url, GPU_API_KEY: this.key, PYTHONUNBUFFERED: '1' };
  }

  /** The statuses of all rentals, the newest first. */
  async statuses(): Promise<string[]> {
    const { body } = await this.session.get('/v1/rentals');
    return (body as unknown as { rentals: { status: string }[] }).rentals.map(({ status }) => status);
  }

  /** Waits until no machine runs any more. @returns how many there are */
  async awaitEnds(): Promise<number> {
    const all = await until('all machines end', async () => {
      const statuses = await this.statuses();
      return statuses.every((status) => status === 'stopped' || status === 'failed') ? statuses : undefined;
    });
    return all.length;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const what = `${method} ${url.split('?')[0]}`;
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    // Whoever is cut off from here on has asked.
    this.arrived.push(what);
    const fate = this.#fateOf(what);
    if (fate === 'is refused') {
      await new Promise<void>((resolve) => this.held.push(resolve));
      response.writeHead(409, { 'Content-Type': 'application/json' }).end(JSON.stringify(unavailable));
      return;
    }
    if (fate === 'is turned away') {
      response.writeHead(403, { 'Content-Type': 'application/json' }).end(JSON.stringify(turnedAway));
      return;
    }
    const sent = Object.entries(headers).filter(([name]) => !/^(host|connection|content-length)$/.test(name));
    try {
      const answer = await this.machine.told()(this.mock.url + url, {
        ...{ method, headers: sent as [string, string][], redirect: 'manual' },
        ...(body.length > 0 && { body }),
      });
      if (answer.headers.get('content-type')?.startsWith('text/event-stream') === true && answer.body) {
        response.writeHead(answer.status, { 'Content-Type': 'text/event-stream' });
        await pipeline(answer.body, response);
        return;
      }
      await this.#deliver(answer, fate, response);
    } catch {
      response.destroy();
    }
  }

  #fateOf(what: string): Fate {
    return this.fates.get(what)?.shift() ?? 'passes';
  }

  async #deliver(answer: Response, fate: Fate, response: ServerResponse): Promise<void> {
    const body = Buffer.from(await answer.arrayBuffer());
    if (fate === 'is lost') {
      response.destroy();
      return;
    }
    if (fate === 'is in progress') {
      const { id } = JSON.parse(body.toString()) as { id: string };
      response.writeHead(409, { 'Content-Type': 'application/json' }).end(JSON.stringify(inProgress(id)));
      return;
    }
    if (fate === 'waits') await sleep(1_000);
    const kept = [...answer.headers].filter(
      ([name]) => !/^(content-(length|encoding)|connection)$/.test(name),
    );
    response.writeHead(answer.status, Object.fromEntries(kept)).end(body);
  }

  async stop(): Promise<void> {
    process.env['PATH'] = this.#path;
    rmSync(this.#bin, { recursive: true, force: true });
    this.server.closeAllConnections();
    this.server.close();
    await this.machine.stop();
    await this.mock.stop();
  }
}

const inProgress = (rentalId: string): object => ({
  error: 'idempotency_in_progress',
  message: 'The first request with this Idempotency-Key is still in progress. Try again in a few seconds.',
  requestId: 'req_1',
  details: { rentalId },
});

const unavailable = {
  error: 'model_unavailable',
  message: 'No machine of this family is free.',
  requestId: 'req_2',
  details: { alternatives: [] },
};

const turnedAway = {
  error: 'key_address',
  message: 'This key may not be used from this address.',
  requestId: 'req_3',
  details: {},
};

/** A Python program that runs. */
export class Program {
  out = '';
  err = '';
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  readonly #child: ChildProcess;

  constructor(python: string, code: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn(python, ['-c', code], {
      ...{ env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 90_000, killSignal: 'SIGKILL' },
    });
    this.#child.stdout?.on('data', (text: Buffer) => (this.out += text.toString()));
    this.#child.stderr?.on('data', (text: Buffer) => (this.err += text.toString()));
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
    }));
  }

  async awaitOut(pattern: RegExp): Promise<void> {
    await until(`it says ${pattern.source}`, () => {
      if (this.#child.exitCode !== null && !pattern.test(this.out)) throw new Error(this.err);
      return Promise.resolve(pattern.test(this.out));
    });
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }
}
