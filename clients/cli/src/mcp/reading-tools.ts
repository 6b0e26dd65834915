import { isApiError, type GpuRental, type Listing, type Rental } from '@gpu-rental/client';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { answering, ToolRefusal, type Call } from './answers.js';
import { readKey } from './spending.js';
import { pageFor, readCut } from '../views/cut-list.js';

const gpuCount = z.union([z.literal(1), z.literal(2), z.literal(4), z.literal(8)]);
export const wish = {
  familyId: z.string().describe('The kind of GPU, as in offers: h100-80gb'),
  gpuCount: gpuCount.describe('How many GPUs: 1, 2, 4 or 8'),
  region: z.string().optional().describe('A country (US), or us, eu, apac'),
  maxPricePerHourCents: z.number().int().positive().optional(),
};
const reads = { readOnlyHint: true, openWorldHint: true };

/** Adds the tools that change nothing: offers, list, balance and explain. */
export function addReadingTools(server: McpServer, { client }: { readonly client: GpuRental }): void {
  addOffers(server, client);
  server.registerTool(
    'list',
    {
      description:
        'Your machines, newest first: state, price, cost so far and limits. For what they cost an hour together, see balance.',
      inputSchema: {
        status: z.enum(['provisioning', 'running', 'stopping', 'stopped', 'failed']).optional(),
        limit: z.number().int().min(1).max(100).default(20),
      },
      annotations: reads,
    },
    answering(async ({ status, limit }, call) => {
      const query = { ...(status && { status }), pageSize: pageFor(limit) };
      const { rows, more } = await cutTo(limit, client.rentals.list(query, call));
      return { rentals: rows.map(shownRental), ...more };
    }),
  );
  server.registerTool(
    'balance',
    {
      description: 'The balance, how long it lasts, and how much this server’s key may still spend.',
      inputSchema: {},
      annotations: reads,
    },
    answering(async (_, call) => {
      const [key, wallet] = await Promise.all([readKey(client, call), readWallet(client, call)]);
      return { wallet, key: key ?? null };
    }),
  );
  addExplain(server, client);
}

function addOffers(server: McpServer, client: GpuRental): void {
  server.registerTool(
    'offers',
    {
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
      annotations: reads,
    },
    answering(async ({ limit, ...wanted }, call) => {
      const query = { ...withoutUndefined(wanted), pageSize: pageFor(limit) };
      const { rows, more } = await cutTo(limit, client.catalog.listings(query, call));
      const { familyId } = wanted;
      if (rows.length === 0 && familyId !== undefined) await refuseUnknownFamily(client, familyId, call);
      return { offers: rows.map(shownOffer), ...more };
    }),
  );
}

function addExplain(server: McpServer, client: GpuRental): void {
  server.registerTool(
    'explain',
    {
      description:
        'Why money was charged. With a ledgerEntryId: the calculation behind that entry. Without: the newest ledger entries with their ids, of one rental if you name it.',
      inputSchema: {
        ledgerEntryId: z.string().optional().describe('led_…, from explain'),
        rentalId: z.string().optional().describe('rent_…, from rent or list'),
        limit: z.number().int().min(1).max(100).default(10),
      },
      annotations: reads,
    },
    answering(async ({ ledgerEntryId, rentalId, limit }, call) => {
      if (ledgerEntryId !== undefined) return client.wallet.explain(ledgerEntryId, call);
      const query = { ...(rentalId !== undefined && { rentalId }), pageSize: pageFor(limit) };
      const { rows, more } = await cutTo(limit, client.wallet.ledger(query, call));
      return { entries: rows, ...more };
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
async function readWallet(client: GpuRental, call: Call): Promise<object | null> {
  try {
    return await client.wallet.get(call);
  } catch (error) {
    if (isApiError(error, 'key_scope')) return null;
    throw error;
  }
}

function shownOffer(listing: Listing): object {
  const {
    family: familyId,
    gpuCount,
    vramGb,
    pricePerHourCents,
    region,
    interconnect,
    reliability,
  } = listing;
  return { familyId, gpuCount, vramGb, pricePerHourCents, region, interconnect, reliability };
}

/** What an agent needs of a rental. */
export function shownRental(rental: Rental): object {
  const { id: rentalId, name, status, phase, expectedReadyAt, familyId, gpuCount, region } = rental;
  const { pricePerHourCents, totalChargedCents, maxSpendCents, autoStopAt, runningAt, stopReason } = rental;
  return {
    ...{ rentalId, name, status, phase, expectedReadyAt, familyId, gpuCount, region },
    ...{ pricePerHourCents, totalChargedCents, maxSpendCents, autoStopAt, runningAt, stopReason },
    failure: rental.failure,
    endpoints: rental.endpoints,
  };
}

/** Leaves out what was not given. */
export function withoutUndefined<T extends object>(
  given: T,
): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}
