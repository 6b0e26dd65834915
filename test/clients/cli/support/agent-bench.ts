import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js';
import type { ApiKey } from '@gpu-rental/client';
import { startMock, type MockServer } from '../../../../lab/mock/server.js';
import { until } from '../../../support/until.js';
import { Agent } from '../../mcp/support/agent.js';
import { Person } from './person.js';
import { gpuArgs } from './terminal.js';

export type AgentKey = Pick<ApiKey, 'id' | 'ends' | 'reservedCents'> & { readonly key: string };

/** Ann, who has $200 at the mock, and the agents that `gpu mcp` serves by her keys. */
export class AgentBench {
  readonly #children: ChildProcess[] = [];
  readonly #agents: Agent[] = [];

  private constructor(
    readonly mock: MockServer,
    readonly ann: Person,
  ) {}

  static async start(): Promise<AgentBench> {
    const mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 50, endMs: 20 } });
    const ann = await Person.at(mock);
    await ann.pay(200);
    return new AgentBench(mock, ann);
  }

  async keyWith(more: object): Promise<AgentKey> {
    const asked = { name: 'agent', scopes: ['read', 'rentals', 'billing'], ...more };
    return (await this.ann.elsewhere.post('/v1/api-keys', asked)).body as unknown as AgentKey;
  }

  environment(apiKey: string): Record<string, string> {
    return {
      ...{ PATH: process.env['PATH'] ?? '', HOME: this.ann.home, GPU_API_URL: this.mock.url },
      ...(apiKey !== '' && { GPU_API_KEY: apiKey }),
    };
  }

  async serve({ key }: Pick<AgentKey, 'key'>, ...options: readonly string[]): Promise<Agent> {
    const agent = await Agent.spawn([...(await gpuArgs()), 'mcp', ...options], this.environment(key));
    this.#agents.push(agent);
    return agent;
  }

  /**
   * Starts the command with pipes, and says hello.
   * @param command the arguments that start it; default: its build
   */
  async pipe(key: string, command?: readonly string[]) {
    const child = spawn(process.execPath, [...(command ?? (await gpuArgs())), 'mcp'], {
      env: this.environment(key),
    });
    this.#children.push(child);
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (line) => lines.push(line));
    const texts = { err: '' };
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.err += text));
    child.stdin.on('error', () => undefined);
    const say = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const params = {
      ...{ protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {} },
      clientInfo: { name: 'agent', version: '1' },
    };
    say({ id: 1, method: 'initialize', params });
    await until('it has answered', () => lines.length > 0);
    say({ method: 'notifications/initialized' });
    const call = (id: number, name: string, args: object) =>
      say({ id, method: 'tools/call', params: { name, arguments: args } });
    return { child, lines, texts, call, ended: once(child, 'close') };
  }

  /** Ends what a test has started. */
  async leave(): Promise<void> {
    for (const child of this.#children.splice(0)) child.kill('SIGKILL');
    for (const agent of this.#agents.splice(0)) await agent.leave();
  }
}
