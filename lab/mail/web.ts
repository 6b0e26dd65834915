import { createServer, type Server } from 'node:http';
import { listPage, mailPage, notFoundPage, pageHeaders, returnPage } from './page.js';
import type { MailStore } from './store.js';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The inbox over HTTP. Pages: `/`, `/inbox/:id`, and `/app/billing` (to which the payment page returns).
 * JSON: `GET /mails?to=` -> `{ mails }` newest first, `GET /mails/:id`, `DELETE /mails` -> `{ removed }`.
 */
export function createMailWeb(store: MailStore): Server {
  return createServer((request, response) => {
    const url = new URL(`http://127.0.0.1${request.url ?? '/'}`);
    route(store, request.method ?? 'GET', url, request.headers.host ?? '')
      .catch((error: unknown) => refusal(500, 'internal_error', String(error)))
      .then(
        ({ status, headers, body }) => {
          response.writeHead(status, { ...headers, 'cache-control': 'no-store' });
          response.end(body);
        },
        () => response.destroy(),
      );
  });
}

async function route(store: MailStore, method: string, url: URL, host: string): Promise<Reply> {
  // A web site may point a name of its own at loopback; its visitors' browsers must not read these mails.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host)) {
    return refusal(403, 'forbidden', 'Ask for this by the name 127.0.0.1 or localhost.');
  }
  const [, folder, id, more] = url.pathname.split('/');
  if (folder === 'mails' && more === undefined)
    return routeJson(store, method, id, url.searchParams.get('to'));
  if (method !== 'GET' && method !== 'HEAD') {
    return refusal(405, 'method_not_allowed', 'Pages can only be read.');
  }
  return page(findPage(store, url));
}

function findPage(store: MailStore, url: URL): string | undefined {
  if (url.pathname === '/') return listPage(store.list());
  if (url.pathname === '/app/billing') return returnPage(url.searchParams.get('session'));
  const id = /^\/inbox\/(\w+)$/.exec(url.pathname)?.[1];
  const mail = id === undefined ? undefined : store.find(id);
  return mail && mailPage(mail);
}

async function routeJson(
  store: MailStore,
  method: string,
  id: string | undefined,
  to: string | null,
): Promise<Reply> {
  if (method === 'DELETE' && id === undefined) return json(200, { removed: await store.clear() });
  if (method !== 'GET') {
    return refusal(405, 'method_not_allowed', 'There are GET /mails, GET /mails/:id and DELETE /mails.');
  }
  if (id === undefined) return json(200, { mails: store.list(to ?? undefined) });
  const mail = store.find(id);
  return mail ? json(200, mail) : refusal(404, 'not_found', 'There is no such mail; GET /mails lists them.');
}

function refusal(status: number, error: string, message: string): Reply {
  return json(status, { error, message });
}

function json(status: number, body: unknown): Reply {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: `${JSON.stringify(body, null, 2)}\n` };
}

function page(body: string | undefined): Reply {
  return { status: body === undefined ? 404 : 200, headers: pageHeaders, body: body ?? notFoundPage() };
}
