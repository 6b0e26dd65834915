import {
  ConnectionError,
  isApiError,
  openIdOf,
  RentalNotReadyError,
  type GpuRental,
  type NewRental,
  type Quote,
  type Rental,
} from '@gpu-rental/client';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { answering, dollars, ToolRefusal, type Call, type ToolOptions } from './answers.js';
import { addKeepAlive } from './keep-alive-tool.js';
import { refuseUnknownFamily, wish, withoutUndefined } from './reading-tools.js';
import * as shapes from './shapes.js';
import { shownRental } from './shapes.js';
import type { Spending } from './spending.js';

const limits = {
  autoStopAfterHours: z
    .number()
    .positive()
    .max(720)
    .optional()
    .describe('It stops this many hours after it started running'),
  maxSpendCents: z
    .number()
    .int()
    .positive()
    .optional()
    .describe('It stops when it has cost this much in total'),
};
/** When it stops for being idle. */
const guard = {
  stopWhenIdleMinutes: z
    .number()
    .int()
    .min(15)
    .max(1_440)
    .optional()
    .describe('It stops when it was idle for so many minutes; keep_alive puts that off'),
  telemetry: z
    .boolean()
    .optional()
    .describe('Tells how much it is used, by a small script on it where its provider doesn’t'),
  idleIgnores: z
    .array(z.enum(['sessions']))
    .optional()
    .describe('With stopWhenIdleMinutes: ["sessions"], where the provider can’t report who is logged in'),
};
/** What runs instead of a template. The service says what of it no provider can do. */
const software = {
  image: z.string().optional().describe('An image to run instead of a template: ghcr.io/you/server:1'),
  entrypoint: z
    .enum(['keep', 'replace'])
    .optional()
    .describe('replace: args are run in place of the image’s entrypoint'),
  args: z.array(z.string()).max(64).optional().describe('Arguments of what the image runs'),
  env: z
    .record(z.string(), z.string())
    .optional()
    .describe('Environment variables. Put no secret here that this conversation must not hold'),
  ports: z
    .array(
      z.object({
        name: z.string().describe('a-z, 0-9 and -'),
        port: z.number().int().min(1).max(65_535),
        kind: z.enum(['http', 'tcp']),
        public: z.boolean().default(false).describe('true: everybody on the internet can reach it'),
      }),
    )
    .max(10)
    .optional()
    .describe('Ports that the software listens on; the rental’s endpoints tell where they are open'),
};
const rentalId = z.string().describe('rent_…, from rent or list');

/** Adds the tools that rent, extend, enter and stop. What spends is told beforehand, and needs the id of what was told. */
export function addRentingTools(server: McpServer, options: ToolOptions, spending: Spending): void {
  addQuote(server, options, spending);
  addRent(server, options, spending);
  addQuoteExtension(server, options, spending);
  addExtend(server, options, spending);
  addSshCommand(server, options);
  addKeepAlive(server, options, spending);
  addStop(server, options, spending);
  addRename(server, options, spending);
}

function addQuote(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'quote',
    {
      title: 'Quote',
      description:
        'What a machine will cost, per hour and at most. Spends nothing. Set autoStopAfterHours or maxSpendCents, or both, so that there is a maximum. Rent with the quoteId within a minute. This computer’s SSH key opens the machine.',
      inputSchema: {
        ...wish,
        ...limits,
        ...guard,
        templateId: z
          .enum(['ubuntu-24-04', 'pytorch', 'jupyter', 'vllm', 'ollama', 'a1111', 'text-generation-webui'])
          .optional()
          .describe('Software to install; default: ubuntu-24-04'),
        name: z.string().max(64).optional(),
        ...software,
      },
      outputSchema: shapes.quote,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(options, shapes.quote, async (args, call) => {
      if (args.autoStopAfterHours === undefined && args.maxSpendCents === undefined) {
        throw new ToolRefusal(
          'no_limit',
          'Set autoStopAfterHours or maxSpendCents, or both: without a limit there is no maximum cost.',
        );
      }
      const body = { ...withoutUndefined(args), sshPublicKeys: [await options.publicKey()] };
      const quote = await quoteOf(client, body, call);
      spending.remember(quote);
      const key = await spending.key(call);
      return { ...shownQuote(quote), keyLeftCents: key?.leftCents ?? null };
    }),
  );
}

async function quoteOf(client: GpuRental, body: NewRental, call: Call): Promise<Quote> {
  try {
    return await client.quotes.create(body, call);
  } catch (error) {
    if (isApiError(error, 'unknown_family')) await refuseUnknownFamily(client, body.familyId, call);
    throw error;
  }
}

function shownQuote({ listing, alternatives, ...quote }: Quote) {
  const { family: familyId, gpuCount, vramGb, region } = listing;
  const worst =
    quote.worstCaseCents === null ? 'without a limit' : `${dollars(quote.worstCaseCents)} at most`;
  return {
    summary: `${dollars(quote.pricePerHourCents)} an hour, ${worst}. To rent it, call rent with this quoteId.`,
    ...quote,
    machine: { familyId, gpuCount, vramGb, region },
    alternatives: alternatives.map((other) => ({
      familyId: other.family,
      gpuCount: other.gpuCount,
      region: other.region,
      pricePerHourCents: other.pricePerHourCents,
    })),
  };
}

function addRent(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'rent',
    {
      title: 'Rent a machine',
      description:
        'Spends money: rents the machine of a quote from this server. Calling it again with the same quoteId returns the same rental. Then call ssh_command. Stop the machine when you no longer need it.',
      inputSchema: { quoteId: z.string().describe('quo_…, from quote') },
      outputSchema: shapes.rented,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(options, shapes.rented, async ({ quoteId }, call) => {
      const { worstCaseCents } = spending.quote(quoteId);
      await spending.requireCap(call);
      try {
        const idempotencyKey = `mcp-${quoteId}`;
        const rental = await call.commit((rest) =>
          client.rentals.create({ quoteId }, { ...rest, idempotencyKey }),
        );
        spending.opened(rental.id);
        const { id, status, pricePerHourCents, warnings } = rental;
        return { rentalId: id, status, pricePerHourCents, worstCaseCents, warnings };
      } catch (error) {
        spending.rememberNewOffer(error);
        const perhapsOpened = openIdOf(error);
        if (perhapsOpened !== undefined) spending.opened(perhapsOpened);
        throw error;
      }
    }),
  );
}

function addQuoteExtension(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'quote_extension',
    {
      title: 'Quote an extension',
      description:
        'The most a rental will cost in total with other limits. Changes nothing. Hours count from when it started running. Extend with the extensionId within a minute.',
      inputSchema: { rentalId, ...limits },
      outputSchema: shapes.quotedExtension,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(options, shapes.quotedExtension, async ({ rentalId: id, ...change }, call) => {
      if (change.autoStopAfterHours === undefined && change.maxSpendCents === undefined) {
        throw new ToolRefusal('no_limit', 'Set maxSpendCents or autoStopAfterHours, or both.');
      }
      const rental = await client.rentals.get(id, call);
      const told = spending.quoteExtension(rental, withoutUndefined(change));
      const { id: extensionId, worstCaseCents, expiresAtMs } = told;
      return {
        summary: `${dollars(worstCaseCents)} at most in total, of which ${dollars(rental.totalChargedCents)} is already charged. To change it, call extend with this extensionId.`,
        ...{ extensionId, rentalId: id, worstCaseCents, chargedCents: rental.totalChargedCents },
        expiresAt: new Date(expiresAtMs).toISOString(),
      };
    }),
  );
}

function addExtend(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'extend',
    {
      title: 'Extend a machine',
      description: 'Spends money: sets the limits of an extension from this server.',
      inputSchema: { extensionId: z.string().describe('ext_…, from quote_extension') },
      outputSchema: shapes.extended,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(options, shapes.extended, async ({ extensionId }, call) => {
      const { rentalId: id, body, worstCaseCents } = spending.extension(extensionId);
      await spending.requireCap(call);
      await spending.requireOwn(id, call);
      const idempotencyKey = `mcp-${extensionId}`;
      const rental = await call.commit((rest) =>
        client.rentals.change(id, body, { ...rest, idempotencyKey }),
      );
      return { ...shownRental(rental), worstCaseCents };
    }),
  );
}

function addSshCommand(server: McpServer, options: ToolOptions): void {
  server.registerTool(
    'ssh_command',
    {
      title: 'Command to log in',
      description:
        'The command line that logs in to a machine from this computer; append a command to run it there. Waits up to waitSeconds for the machine to be ready; if it is not, call it again.',
      inputSchema: { rentalId, waitSeconds: z.number().int().min(0).max(45).default(45) },
      outputSchema: shapes.entry,
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(options, shapes.entry, async ({ rentalId: id, waitSeconds }, call) => {
      const rental = await readyWithin(options.client, id, waitSeconds, call);
      if (rental.status !== 'running') return { ready: false, ...shownRental(rental) };
      const words = await options.sshCommand(rental);
      const { host, port, username, hostKeyFingerprint } = rental;
      return { ready: true, command: words.map(quoted).join(' '), host, port, username, hostKeyFingerprint };
    }),
  );
}

/** @returns the rental as it was seen last, where it is not ready by then */
async function readyWithin(client: GpuRental, id: string, seconds: number, call: Call): Promise<Rental> {
  const first = await client.rentals.get(id, call);
  if (first.status === 'running' || (first.status === 'provisioning' && seconds === 0)) return first;
  const { signal } = call;
  try {
    const timeoutMs = Math.min(seconds * 1_000, call.timeoutMs);
    return await client.rentals.waitUntilReady(id, { signal, timeoutMs });
  } catch (error) {
    if (error instanceof RentalNotReadyError && error.timedOut) return error.rental;
    if (error instanceof ConnectionError && first.status === 'provisioning') return first;
    throw error;
  }
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function addStop(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'stop',
    {
      title: 'Stop a machine',
      description:
        'Stops a machine that you opened, and its billing, for good. Everything on it is lost. It is safe to call it twice.',
      inputSchema: { rentalId },
      outputSchema: shapes.stopped,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    answering(options, shapes.stopped, async ({ rentalId: id }, call) => {
      await spending.requireOwn(id, call);
      const stopped = await call.commit((rest) => client.rentals.stop(id, rest));
      const { status, finalChargedCents, refundedCents } = stopped;
      return { rentalId: id, status, finalChargedCents, refundedCents };
    }),
  );
}

function addRename(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'rename',
    {
      title: 'Rename a machine',
      description: 'Gives a machine that you opened another name. An empty one takes the name away.',
      inputSchema: { rentalId, name: z.string().max(64) },
      outputSchema: shapes.rental,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(options, shapes.rental, async ({ rentalId: id, name }, call) => {
      await spending.requireOpened(id, call);
      return shownRental(await call.commit((rest) => client.rentals.change(id, { name }, rest)));
    }),
  );
}
