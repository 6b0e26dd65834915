import {
  isApiError,
  RentalNotReadyError,
  type GpuRental,
  type NewRental,
  type Quote,
  type Rental,
} from '@gpu-rental/client';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { answering, dollars, ToolRefusal, unended, type Call } from './answers.js';
import { refuseUnknownFamily, shownRental, wish, withoutUndefined } from './reading-tools.js';
import type { McpOptions } from './options.js';
import type { Spending } from './spending.js';

const limits = {
  autoStopAfterHours: z
    .number()
    .positive()
    .max(720)
    .optional()
    .describe('It ends by itself so many hours after it began to run'),
  maxSpendCents: z.number().int().positive().optional().describe('It ends when it has cost so much in all'),
};
const rentalId = z.string().describe('rent_…, as rent and list tell it');

/** Adds the tools that rent, extend, enter and stop. What spends is told beforehand, and needs the id of what was told. */
export function addRentingTools(server: McpServer, options: McpOptions, spending: Spending): void {
  addQuote(server, options, spending);
  addRent(server, options.client, spending);
  addQuoteExtension(server, options.client, spending);
  addExtend(server, options.client, spending);
  addSshCommand(server, options);
  addStop(server, options.client, spending);
}

function addQuote(server: McpServer, options: McpOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'quote',
    {
      description:
        'What a machine will cost: an hour, and at worst. It spends nothing. Name autoStopAfterHours or maxSpendCents, or both, so that there is a worst case. Rent by the quoteId within a minute. The machine lets in the SSH key of this computer.',
      inputSchema: {
        ...wish,
        ...limits,
        templateId: z
          .enum(['ubuntu-24-04', 'pytorch', 'vllm', 'ollama', 'a1111', 'text-generation-webui'])
          .optional()
          .describe('What is installed; default: ubuntu-24-04'),
        name: z.string().max(100).optional(),
      },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(async (args, call) => {
      if (args.autoStopAfterHours === undefined && args.maxSpendCents === undefined) {
        throw new ToolRefusal(
          'no_limit',
          'Name autoStopAfterHours or maxSpendCents, or both: without a limit there is no worst case.',
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

function shownQuote({ listing, alternatives, ...quote }: Quote): object {
  const { family: familyId, gpuCount, vramGb, region } = listing;
  const worst =
    quote.worstCaseCents === null ? 'without a limit' : `${dollars(quote.worstCaseCents)} at worst`;
  return {
    summary: `${dollars(quote.pricePerHourCents)} an hour, ${worst}. To rent it: rent with this quoteId.`,
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

function addRent(server: McpServer, client: GpuRental, spending: Spending): void {
  server.registerTool(
    'rent',
    {
      description:
        'Spends money: rents the machine of a quote that this server has told. Again with the same quoteId, it tells the same rental. Then call ssh_command. Stop it when it is not used any more.',
      inputSchema: { quoteId: z.string().describe('quo_…, as quote tells it') },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(async ({ quoteId }, call) => {
      const { worstCaseCents } = spending.quote(quoteId);
      await spending.requireCap(call);
      try {
        const idempotencyKey = `mcp-${quoteId}`;
        const rental = await client.rentals.create({ quoteId }, { ...unended(call), idempotencyKey });
        spending.opened(rental.id);
        const { id, status, pricePerHourCents, warnings } = rental;
        return { rentalId: id, status, pricePerHourCents, worstCaseCents, warnings };
      } catch (error) {
        spending.rememberNewOffer(error);
        if (isApiError(error, 'temporarily_unavailable') && error.details?.rentalId !== undefined)
          spending.opened(error.details.rentalId);
        throw error;
      }
    }),
  );
}

function addQuoteExtension(server: McpServer, client: GpuRental, spending: Spending): void {
  server.registerTool(
    'quote_extension',
    {
      description:
        'What a rental will cost at worst, in all, with other limits. It changes nothing. Hours count from when it began to run. Extend by the extensionId within a minute.',
      inputSchema: { rentalId, ...limits },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(async ({ rentalId: id, ...change }, call) => {
      if (change.autoStopAfterHours === undefined && change.maxSpendCents === undefined) {
        throw new ToolRefusal('no_limit', 'Name maxSpendCents or autoStopAfterHours, or both.');
      }
      const rental = await client.rentals.get(id, call);
      const told = spending.quoteExtension(rental, withoutUndefined(change));
      const { id: extensionId, worstCaseCents, expiresAtMs } = told;
      return {
        summary: `${dollars(worstCaseCents)} at worst, in all; ${dollars(rental.totalChargedCents)} of it are charged. To change it: extend with this extensionId.`,
        ...{ extensionId, rentalId: id, worstCaseCents, chargedCents: rental.totalChargedCents },
        expiresAt: new Date(expiresAtMs).toISOString(),
      };
    }),
  );
}

function addExtend(server: McpServer, client: GpuRental, spending: Spending): void {
  server.registerTool(
    'extend',
    {
      description: 'Spends money: sets the limits of an extension that this server has told.',
      inputSchema: { extensionId: z.string().describe('ext_…, as quote_extension tells it') },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(async ({ extensionId }, call) => {
      const { rentalId: id, body, worstCaseCents } = spending.extension(extensionId);
      await spending.requireCap(call);
      await spending.requireOwn(id, call);
      const idempotencyKey = `mcp-${extensionId}`;
      const rental = await client.rentals.change(id, body, { ...unended(call), idempotencyKey });
      return { ...shownRental(rental), worstCaseCents };
    }),
  );
}

function addSshCommand(server: McpServer, options: McpOptions): void {
  server.registerTool(
    'ssh_command',
    {
      description:
        'The command line that enters a machine from this computer; append a command to run it there. Waits up to waitSeconds until the machine is ready; call it again when it is not.',
      inputSchema: { rentalId, waitSeconds: z.number().int().min(0).max(45).default(45) },
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    answering(async ({ rentalId: id, waitSeconds }, call) => {
      const rental = await readyWithin(options.client, id, waitSeconds, call);
      if (rental.status !== 'running') return { ready: false, ...shownRental(rental) };
      const words = await options.sshCommand(rental);
      const { host, port, username, hostKeyFingerprint } = rental;
      return { ready: true, command: words.map(quoted).join(' '), host, port, username, hostKeyFingerprint };
    }),
  );
}

async function readyWithin(
  client: GpuRental,
  id: string,
  seconds: number,
  { signal }: Call,
): Promise<Rental> {
  try {
    return await client.rentals.waitUntilReady(id, { signal, timeoutMs: seconds * 1_000 });
  } catch (error) {
    if (error instanceof RentalNotReadyError && error.timedOut) return error.rental;
    throw error;
  }
}

/** A word as a shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function addStop(server: McpServer, client: GpuRental, spending: Spending): void {
  server.registerTool(
    'stop',
    {
      description:
        'Ends a machine that you opened, and its billing, for good. What is on it is lost. To call it twice does no harm.',
      inputSchema: { rentalId },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    answering(async ({ rentalId: id }, call) => {
      await spending.requireOwn(id, call);
      const { status, finalChargedCents, refundedCents } = await client.rentals.stop(id, unended(call));
      return { rentalId: id, status, finalChargedCents, refundedCents };
    }),
  );
}
