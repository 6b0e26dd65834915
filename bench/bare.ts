import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import type { Database } from '../adapters/postgres/database.js';

export interface Bare {
  readonly url: string;
  close(): void;
}

/**
 * The peer of a benchmark of the API: Koa and one query on the same database, with the rows sent as they come. No
 * session, no limits, no log, no presenter.
 * @param queryOf gives the query for a path
 */
export async function startBare(
  db: Database,
  queryOf: (path: string) => { readonly sql: string; readonly bindings: readonly string[] },
): Promise<Bare> {
  const app = new Koa();
  app.use(async (ctx) => {
    const { sql, bindings } = queryOf(ctx.path);
    const { rows } = await db.raw<{ rows: unknown[] }>(sql, [...bindings]);
    ctx.body = { rows };
  });
  const handle = app.callback();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
