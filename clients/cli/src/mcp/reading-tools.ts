import { isApiError, type Balance, type GpuRental } from '@gpu-rental/client';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { answering, ToolRefusal, type Call, type ToolOptions } from './answers.js';
import * as shapes from './shapes.js';
import { shownRental } from './shapes.js';
import { readKey, type Spending } from './spending.js';
import { pageFor, readCut } from '../views/cut-list.js';
import { newestEvents } from '../views/newest-events.js';

const gpuCount = z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)]);
export const wish = {
  familyId: z.string().describe('The kind of GPU, as in offers: h100-80gb'),
  gpuCount: gpuCount.describe('How many GPUs: 1, 2, 4 or 8'),
  region: z.string().optional().describe('A country (US), or us, eu, apac'),
  maxPricePerHourCents: z.number().int().positive().optional(),
};
const reads = { readOnlyHint: true, openWorldHint: true };

/** Adds the tools that change nothing: offers, list, balance, explain and events. */
export function addReadingTools(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  addOffers(server, options);
  addList(server, options, spending);
  server.registerTool(
    'balance',
    {
      title: 'Balance and cap',
      description: 'The balance, how long it lasts, and how much this server’s key may still spend.',
      inputSchema: {},
      outputSchema: shapes.balance,
      annotations: reads,
    },
    answering(options, shapes.balance, async (_, call) => {
      const [key, wallet] = await Promise.all([readKey(client, call), readWallet(client, call)]);
      return { wallet, key: key ?? null };
    }),
  );
  addExplain(server, options);
  addEvents(server, options);
}

function addList(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'list',
    {
      title: 'List machines',
      description:
        'Your user’s machines, newest first: state, price, cost so far, limits, and whether they are yours to stop. For what they cost an hour together, see balance.',
      inputSchema: {
        status: z.enum(['provisioning', 'running', 'stopping', 'stopped', 'failed']).optional(),
        mine: z.boolean().default(false).describe('true: only those that you can stop and extend'),
        limit: z.number().int().min(1).max(100).default(20),
      },
      outputSchema: shapes.rentals,
      annotations: reads,
    },
    answering(options, shapes.rentals, async ({ status, mine, limit }, call) => {
      const own = mine ? await spending.ownQuery(call) : {};
      const query = { ...(status && { status }), ...own, pageSize: pageFor(limit) };
      // A query that names no machine would find all of them.
      const isNone = own.ids?.length === 0;
      const { rows, more } = isNone ? none : await cutTo(limit, client.rentals.list(query, call));
      const ids = rows.map(({ id }) => id);
      const owned = mine ? new Set(ids) : await spending.ownOf(ids, call);
      return { rentals: rows.map((row) => ({ ...shownRental(row), mine: owned.has(row.id) })), ...more };
    }),
  );
}

const none = { rows: [], more: {} };

function addOffers(server: McpServer, options: ToolOptions): void {
  const { client } = options;
  server.registerTool(
    'offers',
    {
      title: 'Offers',
      description: 'Machines you can rent now, cheapest first, with the hourly price in cents.',
      inputSchema: {
        familyId: wish.familyId.optional(),
        gpuCount: wish.gpuCount.optional(),
        region: wish.region,
        maxPricePerHourCents: wish.maxPricePerHourCents,
        minVramGb: z.number().int().positive().optional().describe('Memory of one GPU'),
        minVcpus: z.number().int().positive().optional(),
        minMemoryGb: z.number().int().positive().optional().describe('Memory of the machine'),
        minDiskGb: z.number().int().positive().optional(),
        limit: z.number().int().min(1).max(100).default(20),
      },
      outputSchema: shapes.offers,
      annotations: reads,
    },
    answering(options, shapes.offers, async ({ limit, ...wanted }, call) => {
      const query = { ...withoutUndefined(wanted), pageSize: pageFor(limit) };
      const { rows, more } = await cutTo(limit, client.catalog.listings(query, call));
      const { familyId } = wanted;
      if (rows.length === 0 && familyId !== undefined) await refuseUnknownFamily(client, familyId, call);
      return { offers: rows.map(({ family, ...listing }) => ({ ...listing, familyId: family })), ...more };
    }),
  );
}

function addExplain(server: McpServer, options: ToolOptions): void {
  const { client } = options;
  server.registerTool(
    'explain',
    {
      title: 'Explain a charge',
      description:
        'Why money was charged. With a ledgerEntryId: the calculation behind that entry. Without: the newest ledger entries with their ids, of one rental if you name it.',
      inputSchema: {
        ledgerEntryId: z.string().optional().describe('led_…, from explain'),
        rentalId: z.string().optional().describe('rent_…, from rent or list'),
        limit: z.number().int().min(1).max(100).default(10),
      },
      outputSchema: shapes.explanation,
      annotations: reads,
    },
    answering(options, shapes.explanation, async ({ ledgerEntryId, rentalId, limit }, call) => {
      if (ledgerEntryId !== undefined) return client.wallet.explain(ledgerEntryId, call);
      const query = { ...(rentalId !== undefined && { rentalId }), pageSize: pageFor(limit) };
      const { rows, more } = await cutTo(limit, client.wallet.ledger(query, call));
      return { entries: [...rows], ...more };
    }),
  );
}

function addEvents(server: McpServer, options: ToolOptions): void {
  const { client } = options;
  server.registerTool(
    'events',
    {
      title: 'Events',
      description:
        'What happened to your user’s account, or to one machine, newest first. To see only what is new, pass the highest seq that you know as after.',
      inputSchema: {
        rentalId: z.string().optional().describe('rent_…, from rent or list'),
        after: z.number().int().min(0).default(0),
        limit: z.number().int().min(1).max(100).default(20),
      },
      outputSchema: shapes.events,
      annotations: reads,
    },
    answering(options, shapes.events, async ({ rentalId, after, limit }, call) => {
      // One that there is not is told so.
      const about = rentalId === undefined ? undefined : await client.rentals.get(rentalId, call);
      const { rows, more } = await cutTo(limit, {
        toArray: (most) => newestEvents(client, { about, after, most }, call),
      });
      return { events: rows.map(({ data, ...event }) => ({ ...event, data: { ...data } })), ...more };
    }),
  );
}

/** The first rows of a list; one that is cut says so, and what an agent can do about it. */
async function cutTo<Row>(limit: number, list: Rows<Row>): Promise<{ rows: readonly Row[]; more: object }> {
  const { rows, more } = await readCut(list, limit);
  if (more.hasMore !== true) return { rows, more };
  const next = `There are more than ${limit}. Narrow the search, or use a higher limit (at most 100).`;
  return { rows, more: { ...more, next } };
}

interface Rows<Row> {
  toArray(max: number): Promise<Row[]>;
}

/** @throws ToolRefusal for a family that there is not, with those that there are */
export async function refuseUnknownFamily(client: GpuRental, familyId: string, call: Call): Promise<void> {
  const families = (await client.catalog.families(call)).map(({ family }) => family as string);
  if (families.includes(familyId)) return;
  const message = `There is no family ${familyId}. There are: ${families.join(', ')}.`;
  throw new ToolRefusal('unknown_family', message, { details: { familyId }, alternatives: families });
}

/** Null where the key may not read money. */
async function readWallet(
  client: GpuRental,
  call: Call,
): Promise<{ [Name in keyof Balance]: Balance[Name] } | null> {
  try {
    return await client.wallet.get(call);
  } catch (error) {
    if (isApiError(error, 'key_scope')) return null;
    throw error;
  }
}

/** Leaves out what was not given. */
export function withoutUndefined<T extends object>(
  given: T,
): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}
