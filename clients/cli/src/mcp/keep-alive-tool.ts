import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { answering, type ToolOptions } from './answers.js';
import * as shapes from './shapes.js';
import type { Spending } from './spending.js';

/** Adds the tool that keeps an idle machine running. */
export function addKeepAlive(server: McpServer, options: ToolOptions, spending: Spending): void {
  const { client } = options;
  server.registerTool(
    'keep_alive',
    {
      title: 'Keep a machine running',
      description:
        'Keeps a machine running that would stop for being idle, for some minutes from now on. It costs its hourly price meanwhile, and still stops at its limits.',
      inputSchema: {
        rentalId: z.string().describe('rent_…, from rent or list'),
        minutes: z.number().int().min(1).max(1_440),
      },
      outputSchema: shapes.rental,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    answering(options, shapes.rental, async ({ rentalId, minutes }, call) => {
      await spending.requireOwn(rentalId, call);
      const until = new Date(options.now() + minutes * 60_000);
      return shapes.shownRental(await call.commit((rest) => client.rentals.keepAlive(rentalId, until, rest)));
    }),
  );
}
