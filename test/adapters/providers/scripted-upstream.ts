import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ProviderError,
  type Oddity,
  type Provider,
  type ProviderErrorKind,
} from '../../../adapters/providers/provider.js';
import { createShadeformProvider } from '../../../adapters/providers/shadeform.js';

export type Handler = (response: ServerResponse, path: string) => void;

/** An upstream that answers what a test tells it to, and the adapter that asks it. */
export interface ScriptedUpstream {
  readonly provider: Provider;
  /** The same with a short limit for each call, for an upstream that is silent. */
  readonly hasty: Provider;
  /** By method and path, for example `GET /v1/instances`; what is not there is 404. */
  readonly handlers: Record<string, Handler>;
  /** The methods and paths that were asked, in order. */
  readonly asked: readonly string[];
  readonly oddities: readonly Oddity[];
  stop(): Promise<void>;
}

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const handlers: Record<string, Handler> = { 'POST /v1/sshkeys/add': json(200, { id: 'key-1' }) };
  const asked: string[] = [];
  const oddities: Oddity[] = [];
  const server = createServer((request, response) => {
    const path = `${request.method ?? ''} ${(request.url ?? '').replace(/\?.*/, '')}`;
    asked.push(path);
    request.resume();
    request.on('end', () => (handlers[path] ?? json(404, { error: 'not found' }))(response, path));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const adapter = (timeoutMs: number): Provider =>
    createShadeformProvider({
      ...{ code: 'shadeform', url, apiKey: 'k', deployment: 'test', timeoutMs },
      onOddity: (oddity) => oddities.push(oddity),
    });
  return {
    provider: adapter(5_000),
    hasty: adapter(300),
    ...{ handlers, asked, oddities },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Handler {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function text(status: number, body: string): Handler {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html' });
    response.end(body);
  };
}

export function halfAnAnswer(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"id":');
  setImmediate(() => response.destroy());
}

export function isOfKind(error: unknown, kind: ProviderErrorKind): boolean {
  assert.ok(error instanceof ProviderError);
  assert.equal(error.kind, kind, error.message);
  return true;
}

/** Never answers. */
export const silence: Handler = () => undefined;
