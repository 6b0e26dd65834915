import type { CallOptions, Send, Transport } from './transport.js';

/** A request of a route, as it is written. */
export interface RouteRequest {
  /** GET, POST, PUT, PATCH or DELETE. */
  readonly method: string;
  /** The path of the route, with its query: `/v1/rentals?pageSize=5`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly idempotencyKey?: string | undefined;
}

/**
 * Calls a route by its path. A change is sent again only where it certainly was not begun.
 * @returns the answer, read as a whole
 * @throws TypeError for a path that leads out of the API
 */
export function requestRoute(
  transport: Transport,
  { method, path, body, idempotencyKey }: RouteRequest,
  options: CallOptions | undefined,
): Promise<Response> {
  const url = urlOf(transport.baseUrl, path);
  const init = {
    ...({ method, credentials: 'include', redirect: 'manual' } as const),
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  const send: Send<Response> = async (_api, { signal }) => {
    const response = await transport.fetch(new Request(url, { ...init, signal }));
    const bytes = await response.arrayBuffer();
    if (!response.ok) return { error: valueOf(new TextDecoder().decode(bytes)), response };
    return { data: new Response(bytes.byteLength === 0 ? null : bytes, response), response };
  };
  return transport.untold(method === 'GET' ? 'read' : 'once', options, send);
}

/** Whatever else is at that host is not asked, and gets no key. */
function urlOf(baseUrl: string, path: string): string {
  const { href } = new URL(baseUrl + path);
  if (href.startsWith(`${baseUrl}/`)) return href;
  throw new TypeError(`path must begin with a slash and stay below ${baseUrl}, not “${path}”`);
}

/** A text as JSON; undefined where it is none. */
function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
