/** Headers that a page may send to another origin without asking (Fetch standard, "CORS-safelisted request-header"). */
const safelisted = ['accept', 'accept-language', 'content-language', 'range'];
/** What a page may not set at all: it is dropped without a word. */
const forbidden = ['cookie', 'origin', 'host'];
/** What a page sees of another origin's answer without being shown it. */
const shown = [
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
];

/**
 * Sends requests as a browser does for a page of another origin (Fetch standard, "HTTP fetch" with CORS): it keeps
 * cookies to itself and sends them only with `credentials: include`, asks before it sends, and hides what it was not
 * told to show. A request that the server does not allow fails as a network error.
 */
export class BrowserFetch {
  readonly #origin: string;
  #cookies = new Map<string, string>();
  /** How often it asked before it sent. */
  preflights = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    const headers = new Headers(request.headers);
    for (const name of forbidden) headers.delete(name);
    const unsafe = [...headers.keys()].filter((name) => !isSafe(name, headers.get(name) ?? ''));
    if (unsafe.length > 0 || !['GET', 'HEAD', 'POST'].includes(request.method))
      await this.#ask(request, unsafe);
    const withCookies = request.credentials === 'include';
    if (withCookies && this.#cookies.size > 0) {
      headers.set('Cookie', [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    }
    headers.set('Origin', this.#origin);
    const response = await fetch(new Request(request, { headers }));
    this.#checkAllowed(response, withCookies);
    if (withCookies) this.#take(response.headers.getSetCookie());
    return visible(response);
  };

  async #ask(request: Request, unsafe: readonly string[]): Promise<void> {
    this.preflights += 1;
    const response = await fetch(request.url, {
      method: 'OPTIONS',
      headers: {
        Origin: this.#origin,
        'Access-Control-Request-Method': request.method,
        'Access-Control-Request-Headers': unsafe.join(','),
      },
    });
    this.#checkAllowed(response, request.credentials === 'include');
    const listed = (name: string) => (response.headers.get(name) ?? '').toLowerCase().split(/\s*,\s*/);
    const [methods, headers] = [
      listed('Access-Control-Allow-Methods'),
      listed('Access-Control-Allow-Headers'),
    ];
    if (!methods.includes(request.method.toLowerCase()))
      throw new TypeError(`${request.method} is not allowed`);
    const refused = unsafe.filter((name) => !headers.includes(name));
    if (refused.length > 0) throw new TypeError(`not allowed to send ${refused.join(', ')}`);
  }

  #checkAllowed({ headers }: Response, withCookies: boolean): void {
    if (headers.get('Access-Control-Allow-Origin') !== this.#origin)
      throw new TypeError('the origin is not allowed');
    if (withCookies && headers.get('Access-Control-Allow-Credentials') !== 'true') {
      throw new TypeError('cookies are not allowed');
    }
  }

  #take(cookies: readonly string[]): void {
    for (const cookie of cookies) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      if (at === pair.length - 1) this.#cookies.delete(pair.slice(0, at));
      else this.#cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
  }
}

function isSafe(name: string, value: string): boolean {
  return safelisted.includes(name) || (name === 'content-type' && value.startsWith('text/plain'));
}

function visible(response: Response): Response {
  const exposed = (response.headers.get('Access-Control-Expose-Headers') ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const headers = [...response.headers].filter(([name]) => shown.includes(name) || exposed.includes(name));
  const { status, body } = response;
  return new Response(body, { status, headers });
}
