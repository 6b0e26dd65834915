import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { GpuRental } from '@gpu-rental/client';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import type { Act } from '../../../../clients/cli/src/mcp/agent-stdio.js';
import { runMcp } from '../../../../clients/cli/src/mcp/run-mcp.js';
import { newRenterKey } from '../../../lab/provider/living-lab.js';
import { until } from '../../../support/until.js';
import type { Told } from './agent.js';

interface Line {
  readonly id: number;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
}

/** The server for agents within this process, between two pipes: whose requests go through a function of the test. */
export class PipedServer {
  readonly lines: Line[] = [];
  /** What was done and nobody heard of. */
  readonly ended: Promise<readonly Act[]>;
  readonly #stdin = new PassThrough();
  /** The service's clock as the command reads it off. */
  clock = (): number => Date.now();
  #lastId = 0;

  private constructor(apiKey: string, baseUrl: string, fetch: (request: Request) => Promise<Response>) {
    const stdout = new PassThrough();
    createInterface(stdout).on('line', (line) => this.lines.push(JSON.parse(line) as Line));
    this.ended = runMcp({
      client: new GpuRental({ apiKey, baseUrl, fetch, retries: 0 }),
      ...{ allowUncapped: true, version: '0.0.0-test', ownKeyBy: 'gpu mcp', stdin: this.#stdin, stdout },
      now: () => this.clock(),
      publicKey: () => Promise.resolve(newRenterKey().line),
      sshCommand: () => Promise.resolve(['ssh']),
    });
  }

  static async start(
    apiKey: string,
    baseUrl: string,
    fetch: (request: Request) => Promise<Response>,
  ): Promise<PipedServer> {
    const server = new PipedServer(apiKey, baseUrl, fetch);
    await server.#ask('initialize', {
      ...{ protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {} },
      clientInfo: { name: 'agent', version: '1' },
    });
    server.say({ method: 'notifications/initialized' });
    return server;
  }

  say(message: object): void {
    this.#stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Calls a tool, and does not wait. @returns the request's id */
  begin(name: string, args: object): number {
    return this.#send('tools/call', { name, arguments: args });
  }

  cancel(requestId: number): void {
    this.say({ method: 'notifications/cancelled', params: { requestId } });
  }

  /** Calls a tool. @returns what it tells, whatever came of it */
  async call(name: string, args: object): Promise<Told> {
    const { result } = await this.#answerTo(this.begin(name, args));
    return JSON.parse(result?.content?.[0]?.text ?? '{}') as Told;
  }

  /** Leaves. @returns what nobody heard of */
  leave(): Promise<readonly Act[]> {
    this.#stdin.end();
    return this.ended;
  }

  #send(method: string, params: object): number {
    this.#lastId += 1;
    this.say({ id: this.#lastId, method, params });
    return this.#lastId;
  }

  #ask(method: string, params: object): Promise<Line> {
    return this.#answerTo(this.#send(method, params));
  }

  #answerTo(asked: number): Promise<Line> {
    return until('it has answered', () => this.lines.find(({ id }) => id === asked));
  }
}
