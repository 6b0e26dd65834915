import Koa from 'koa';
import rawBody from 'raw-body';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDatabase } from '../adapters/postgres/database.js';

/**
 * The peer of bench:webhook, a separate process as the API is. It reads and parses the same body and inserts it into a
 * table of the same shape: no signature, no routing, no log. Its argument is the database; it sends its port to its
 * parent.
 */
interface EventBody {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly data: { readonly object: Record<string, unknown> };
}

const db = openDatabase(process.argv[2] ?? '', 10, 'bench-bare');
await db.raw('create table floor_events (like processor_events including all)');
const app = new Koa();
app.use(async (ctx) => {
  const text = await rawBody(ctx.req, { encoding: 'utf8' });
  const { id, type, created, data } = JSON.parse(text) as EventBody;
  await db.raw(
    `insert into floor_events (id, kind, created_at, livemode, object, handled_at)
     values (?, ?, to_timestamp(?), false, ?, clock_ms())`,
    [id, type, created, JSON.stringify(data.object)],
  );
  ctx.body = { received: true };
});
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
// It lives as long as the benchmark.
process.once('disconnect', () => process.exit());
