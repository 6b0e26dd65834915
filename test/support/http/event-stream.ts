import assert from 'node:assert/strict';
import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { eventSchemas, streamMessages } from '../../../api/events/describe.js';
import type { JsonSchema } from '../../../api/http/openapi/json-schema.js';
import { until } from '../until.js';
import { faultOf } from './described.js';

/** A message as it arrived. */
export interface Heard {
  readonly name: string;
  readonly id: number | undefined;
  readonly data: Record<string, unknown>;
  readonly atMs: number;
}

const states = Object.entries(streamMessages).map(([name, { schema }]) => [name, schema] as const);
const schemas: Readonly<Record<string, JsonSchema>> = { ...Object.fromEntries(states), ...eventSchemas };

/**
 * A client of `GET /v1/events/stream`, by a parser that is not ours. It holds each message against the API's
 * description.
 */
export class StreamClient {
  readonly heard: Heard[] = [];
  comments = 0;
  retryMs: number | undefined;
  /** The id to connect again with. */
  lastId: number | undefined;
  isClosed = false;
  #fault: unknown;

  constructor(readonly response: IncomingMessage) {
    const parser = createParser({
      onEvent: (message) => this.#take(message),
      onRetry: (ms) => (this.retryMs = ms),
      onComment: () => (this.comments += 1),
    });
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      try {
        parser.feed(text);
      } catch (fault) {
        this.#fault ??= fault;
      }
    });
    response.on('error', () => undefined);
    response.on('close', () => (this.isClosed = true));
  }

  #take({ id, event, data }: EventSourceMessage): void {
    const name = event ?? 'message';
    const value = JSON.parse(data) as Record<string, unknown>;
    const schema = schemas[name];
    assert.ok(schema, `a message ${name} is described`);
    assert.equal(faultOf(schema, value), undefined, `${name} ${data}`);
    if (id !== undefined) this.lastId = Number(id);
    this.heard.push({
      name,
      id: id === undefined ? undefined : Number(id),
      data: value,
      atMs: performance.now(),
    });
  }

  /** The numbers of the events that arrived, in order. */
  seqs(): number[] {
    return this.events().map(({ data }) => Number(data['seq']));
  }

  events(): Heard[] {
    return this.heard.filter(({ data }) => 'seq' in data);
  }

  named(name: string): Heard[] {
    return this.heard.filter((each) => each.name === name);
  }

  /** Waits for a number of messages of a name. @returns the last one */
  async await(name: string, count = 1): Promise<Heard> {
    return until(
      `message ${count} named ${name} arrives; there are ${this.heard.map((each) => each.name).join(', ')}`,
      () => {
        this.check();
        return this.named(name)[count - 1];
      },
    );
  }

  /** Waits until the events up to this number have arrived. */
  async awaitSeq(seq: number): Promise<void> {
    await until(`event ${seq} arrives`, () => {
      this.check();
      return (this.lastId ?? 0) >= seq;
    });
  }

  async awaitClose(): Promise<void> {
    await until('the stream ends', () => this.isClosed);
    this.check();
  }

  /** @throws what a message had that was not as described */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault as Error;
  }

  /** Cuts the connection, without a word. */
  cut(): void {
    this.response.destroy();
  }
}

/** Where and how a stream is opened. */
export interface StreamAt {
  readonly url: string;
  readonly sid?: string | undefined;
}

/** Asks for a stream. @returns the answer, whatever it is */
export async function askForStream(
  { url, sid }: StreamAt,
  query = '',
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const asking = request(`${url}/v1/events/stream${query}`, {
    agent: false,
    headers: { ...(sid !== undefined && { Cookie: `sid=${sid}` }), ...headers },
  });
  asking.end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  return response;
}

/** Opens a stream, and waits for its first message. @throws Error when it is refused */
export async function openStream(
  at: StreamAt,
  query = '',
  headers: Record<string, string> = {},
): Promise<StreamClient> {
  const response = await askForStream(at, query, headers);
  if (response.statusCode !== 200) {
    const chunks = (await response.toArray()) as Buffer[];
    throw new Error(`${response.statusCode}: ${Buffer.concat(chunks).toString('utf8')}`);
  }
  const client = new StreamClient(response);
  await until('the first message arrives', () => {
    client.check();
    return client.heard.length > 0 || client.isClosed;
  });
  return client;
}
