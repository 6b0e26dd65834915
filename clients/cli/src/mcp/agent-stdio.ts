import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Readable, Writable } from 'node:stream';
import type { CallEnd, Calls } from './answers.js';
import type { DeclaredTools } from './declared-tools.js';

/** What a tool that commits something was asked for, or has done. */
export interface Act {
  readonly tool: string;
  readonly rentalId: string | undefined;
}

/** A request that is not answered yet. */
interface Open {
  readonly act: Act;
  /** Its arguments, as text. */
  readonly asked: string;
  isBegun: boolean;
  isCancelled: boolean;
}

/**
 * The protocol on the standard input and output, as agents leave it: what they have sent is answered also after their
 * input has ended, and arguments are taken as models write them. What they cancel gets no answer: it ends at once where it
 * changes nothing, and else when its tool says so.
 */
export class AgentStdio implements Transport, Calls {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #inner: StdioServerTransport;
  readonly #tools: DeclaredTools;
  readonly #open = new Map<RequestId, Open>();
  /** Done, and perhaps not heard: nothing has come since. */
  #told: Act[] = [];
  /** Cancelled, and done all the same. */
  #cancelled: Pick<Open, 'act' | 'asked'>[] = [];
  #isGone = false;
  #isClosing = false;
  #settle: (() => void) | undefined;

  constructor(stdin: Readable, stdout: Writable, tools: DeclaredTools) {
    this.#tools = tools;
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
      const taken = this.#asMeant(message);
      const id = requestOf(taken);
      if (id !== undefined) this.#open.set(id, openOf(taken));
      this.#cancel(cancelledBy(taken));
      this.onmessage?.(taken);
    };
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = 'id' in message && !('method' in message) ? message.id : undefined;
    const open = id === undefined ? undefined : this.#open.get(id);
    // What is not taken any more would be waited for without an end.
    if (!this.#isGone) void this.#inner.send(message);
    if (id === undefined || open === undefined) return Promise.resolve();
    const { act, asked } = open;
    const rentalId = rentalIn(message) ?? act.rentalId;
    this.#cancelled = this.#cancelled.filter(
      (other) =>
        !(other.act.tool === act.tool && other.asked === asked) &&
        (rentalId === undefined || other.act.rentalId !== rentalId),
    );
    if (this.#tools.acts(act.tool)) this.#told.push({ ...act, rentalId });
    this.#drop(id);
    return Promise.resolve();
  }

  began(id: RequestId): void {
    const open = this.#open.get(id);
    if (open) open.isBegun = true;
  }

  ended(id: RequestId, { mayBeDone, rentalId }: CallEnd): void {
    const open = this.#open.get(id);
    // All others are answered.
    if (open?.isCancelled !== true) return;
    const { act, asked } = open;
    if (mayBeDone) this.#cancelled.push({ asked, act: { ...act, rentalId: rentalId ?? act.rentalId } });
    this.#drop(id);
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
    const unheard = [...this.#cancelled, ...this.#open.values()].map(({ act }) => act);
    return [...unheard.filter(({ tool }) => this.#tools.acts(tool)), ...(this.#isGone ? this.#told : [])];
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #cancel(id: RequestId | undefined): void {
    const open = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || open === undefined) return;
    open.isCancelled = true;
    if (!this.#tools.acts(open.act.tool)) this.#drop(id);
    // One whose arguments are refused never begins.
    else setImmediate(() => !open.isBegun && this.#drop(id));
  }

  #drop(id: RequestId): void {
    this.#open.delete(id);
    this.#look();
  }

  #look(): void {
    if (this.#open.size === 0) this.#settle?.();
  }

  /** The arguments of a call as they are meant: numbers as numbers, and without those that are null. */
  #asMeant(message: JSONRPCMessage): JSONRPCMessage {
    if (!('method' in message) || message.method !== 'tools/call' || !isRecord(message.params))
      return message;
    const numbers = this.#tools.numbers(toolIn(message));
    const entries = Object.entries(argumentsIn(message))
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, numbers.has(name) ? numberOf(value) : value]);
    return { ...message, params: { ...message.params, arguments: Object.fromEntries(entries) } };
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

function toolIn(message: JSONRPCMessage): string {
  const name = 'params' in message && isRecord(message.params) ? message.params['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function openOf(message: JSONRPCMessage): Open {
  const given = argumentsIn(message);
  const rentalId = typeof given['rentalId'] === 'string' ? given['rentalId'] : undefined;
  const act = { tool: toolIn(message), rentalId };
  return { act, asked: JSON.stringify(given), isBegun: false, isCancelled: false };
}

/** The request that a message cancels. */
function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  const id = isRecord(message.params) ? message.params['requestId'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

function rentalIn(message: JSONRPCMessage): string | undefined {
  const told = 'result' in message ? message.result['structuredContent'] : undefined;
  return isRecord(told) && typeof told['rentalId'] === 'string' ? told['rentalId'] : undefined;
}

function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
}
