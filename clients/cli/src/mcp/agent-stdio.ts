import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Readable, Writable } from 'node:stream';

/** What a tool that commits something was asked for, or has done. */
export interface Act {
  readonly tool: string;
  readonly rentalId: string | undefined;
}

const acting: ReadonlySet<string> = new Set(['rent', 'extend', 'stop']);
/** The arguments that are numbers: some models write them as text. */
const numbers: ReadonlySet<string> = new Set([
  ...['after', 'gpuCount', 'limit', 'minVramGb', 'waitSeconds'],
  ...['autoStopAfterHours', 'maxSpendCents', 'maxPricePerHourCents'],
]);

/**
 * The protocol on the standard input and output, as agents leave it: what they have sent is answered also after their
 * input has ended, and arguments are taken as models write them.
 */
export class AgentStdio implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #inner: StdioServerTransport;
  readonly #open = new Map<RequestId, Act>();
  /** Done, and perhaps not heard: nothing has come since. */
  #told: Act[] = [];
  #isGone = false;
  #isClosing = false;
  #settle: (() => void) | undefined;

  constructor(stdin: Readable, stdout: Writable) {
    this.#inner = new StdioServerTransport(stdin, stdout);
    stdout.on('error', () => {
      this.#isGone = true;
      this.#look();
    });
  }

  async start(): Promise<void> {
    this.#inner.onmessage = (message) => {
      if (this.#isClosing) return;
      this.#told = [];
      const taken = asMeant(message);
      const id = requestOf(taken);
      if (id !== undefined) this.#open.set(id, actOf(taken));
      this.onmessage?.(taken);
    };
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message && !('method' in message) ? message.id : undefined;
    const act = id === undefined ? undefined : this.#open.get(id);
    // What is not taken any more would be waited for without an end.
    if (!this.#isGone) void this.#inner.send(message);
    if (id === undefined || act === undefined) return Promise.resolve();
    this.#open.delete(id);
    if (acting.has(act.tool)) this.#told.push({ ...act, rentalId: rentalIn(message) ?? act.rentalId });
    this.#look();
    return Promise.resolve();
  }

  /**
   * Takes nothing more, and waits until all that was taken is answered.
   * @returns what was done, or begun, and was heard by nobody
   */
  async settled(withinMs: number): Promise<Act[]> {
    this.#isClosing = true;
    // What was read last is handed on after this turn.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#open.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#settle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
    const unanswered = [...this.#open.values()].filter(({ tool }) => acting.has(tool));
    return [...unanswered, ...(this.#isGone ? this.#told : [])];
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #look(): void {
    if (this.#open.size === 0) this.#settle?.();
  }
}

function requestOf(message: JSONRPCMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function argumentsIn(message: JSONRPCMessage): Record<string, unknown> {
  const given = 'params' in message && isRecord(message.params) ? message.params['arguments'] : undefined;
  return isRecord(given) ? given : {};
}

function actOf(message: JSONRPCMessage): Act {
  const name = 'params' in message && isRecord(message.params) ? message.params['name'] : undefined;
  const { rentalId } = argumentsIn(message);
  return {
    tool: typeof name === 'string' ? name : '',
    rentalId: typeof rentalId === 'string' ? rentalId : undefined,
  };
}

function rentalIn(message: JSONRPCMessage): string | undefined {
  const told = 'result' in message ? message.result['structuredContent'] : undefined;
  return isRecord(told) && typeof told['rentalId'] === 'string' ? told['rentalId'] : undefined;
}

/** The arguments of a call as they are meant: numbers as numbers, and without those that are null. */
function asMeant(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'tools/call' || !isRecord(message.params)) return message;
  const entries = Object.entries(argumentsIn(message))
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, numbers.has(name) ? numberOf(value) : value]);
  return { ...message, params: { ...message.params, arguments: Object.fromEntries(entries) } };
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
}
