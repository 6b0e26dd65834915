import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ProviderError,
  type Oddity,
  type Provider,
  type ProviderErrorKind,
} from '../../../../adapters/providers/provider.js';
import { createLambdaProvider } from '../../../../adapters/providers/lambda/lambda.js';
import { createRunpodProvider } from '../../../../adapters/providers/runpod/runpod.js';
import { createShadeformProvider } from '../../../../adapters/providers/shadeform/shadeform.js';
import { createVastProvider } from '../../../../adapters/providers/vast/vast.js';
import type { Dialect } from '../../../../adapters/providers/offers/gpu-models.js';

export type Handler = (response: ServerResponse, path: string, query: URLSearchParams) => void;

/** One request, as received. */
export interface SentRequest {
  /** Method and path. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON; null without a body. */
  readonly body: unknown;
}

/** The maker of each dialect's adapter, and the end of its base address. */
const DIALECTS = {
  shadeform: { create: createShadeformProvider, basePath: '/v1' },
  runpod: { create: createRunpodProvider, basePath: '' },
  vast: { create: createVastProvider, basePath: '' },
  lambda: { create: createLambdaProvider, basePath: '' },
};

/** An upstream that answers as a test scripts it, and the adapter that calls it. */
export interface ScriptedUpstream {
  readonly provider: Provider;
  /** Its base address, for an adapter of the test's own. */
  readonly url: string;
  /** The same adapter with a short limit for each call, for an upstream that is silent. */
  readonly hasty: Provider;
  /** The answers by method and path, for example `GET /v1/instances`. All others are 404. */
  readonly handlers: Record<string, Handler>;
  /** The methods and paths of the requests, in order. */
  readonly asked: readonly string[];
  /** The same requests in full. */
  readonly sent: readonly SentRequest[];
  readonly oddities: readonly Oddity[];
  stop(): Promise<void>;
}

export async function startScriptedUpstream(dialect: Dialect = 'shadeform'): Promise<ScriptedUpstream> {
  const configuration = { os_options: ['ubuntu24.04_cuda12.8_shade_os'] };
  const handlers: Record<string, Handler> = {
    'POST /v1/sshkeys/add': json(200, { id: 'key-1' }),
    'GET /v1/instances/types': json(200, { instance_types: [{ configuration }] }),
  };
  const asked: string[] = [];
  const sent: SentRequest[] = [];
  const oddities: Oddity[] = [];
  const server = createServer((request, response) => {
    const [target = '', query = ''] = (request.url ?? '').split('?');
    const path = `${request.method ?? ''} ${target}`;
    asked.push(path);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === '' ? null : JSON.parse(text);
      const parameters = new URLSearchParams(query);
      sent.push({ path, query: parameters, headers: request.headers, body });
      (handlers[path] ?? json(404, { error: 'not found' }))(response, path, parameters);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { create, basePath } = DIALECTS[dialect];
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${basePath}`;
  const adapter = (timeoutMs: number): Provider =>
    create({
      ...{ code: dialect, url, apiKey: 'k', deployment: 'test', timeoutMs },
      onOddity: (oddity) => oddities.push(oddity),
    });
  return {
    provider: adapter(5_000),
    hasty: adapter(300),
    ...{ url, handlers, asked, sent, oddities },
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
