import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { argsToTest } from '../../../support/programs.js';

const project = new URL('../../../../', import.meta.url).pathname;

/** Whom the server for agents asks, by which keys. */
export interface AgentOptions {
  readonly apiUrl: string;
  readonly apiKey?: string;
  readonly session?: string;
  /** Where the key pair `id` of this computer stands. */
  readonly sshDir: string;
  readonly allowUncapped?: boolean;
}

/** What a tool answered. */
export type Told = Record<string, unknown>;

/** An agent that talks over stdio to a server of its own. */
export class Agent {
  /** What came over stdout and was none of the protocol. */
  readonly faults: Error[] = [];
  #stderr = '';

  private constructor(
    readonly client: Client,
    readonly transport: StdioClientTransport,
  ) {}

  static async start(options: AgentOptions): Promise<Agent> {
    return Agent.spawn(await argsToTest('test/clients/mcp/support/serve.ts'), {
      API_URL: options.apiUrl,
      SSH_DIR: options.sshDir,
      ...(options.apiKey !== undefined && { API_KEY: options.apiKey }),
      ...(options.session !== undefined && { SESSION: options.session }),
      ...(options.allowUncapped === true && { ALLOW_UNCAPPED: 'yes' }),
    });
  }

  /** @param args with which Node is started, at the project's folder */
  static async spawn(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Agent> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [...args],
      cwd: project,
      stderr: 'pipe',
      env: { PATH: process.env['PATH'] ?? '', ...env },
    });
    const agent = new Agent(new Client({ name: 'agent', version: '1' }), transport);
    agent.client.onerror = (error) => agent.faults.push(error);
    transport.stderr?.on('data', (chunk: Buffer) => (agent.#stderr += chunk.toString('utf8')));
    await agent.client.connect(transport);
    // From here on the SDK holds each answer against its tool's schema.
    await agent.client.listTools();
    return agent;
  }

  /** Calls a tool that does what it is asked. */
  async call(name: string, args: object = {}): Promise<Told> {
    const { isError, told } = await this.ask(name, args);
    assert.ok(!isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(told)}`);
    return told;
  }

  /** Calls a tool that refuses. @returns what it says */
  async refused(name: string, args: object = {}): Promise<Told> {
    const { isError, told } = await this.ask(name, args);
    assert.ok(isError, `${name} ${JSON.stringify(args)}: ${JSON.stringify(told)}`);
    return told;
  }

  /** Calls a tool, whatever comes of it. */
  async ask(name: string, args: object): Promise<{ isError: boolean; told: Told }> {
    const result = (await this.client.callTool({ name, arguments: { ...args } })) as CallToolResult;
    const [content] = result.content;
    assert.ok(content?.type === 'text');
    const isJson = content.text.startsWith('{');
    const told = isJson ? (JSON.parse(content.text) as Told) : { message: content.text };
    if (result.structuredContent) assert.deepEqual(result.structuredContent, told);
    return { isError: result.isError === true, told };
  }

  /** Leaves. Nothing but the protocol may have come until then. */
  async leave(): Promise<void> {
    await this.client.close();
    assert.deepEqual([this.faults, this.#stderr], [[], '']);
  }
}
