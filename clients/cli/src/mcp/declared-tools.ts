import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

interface Declared {
  readonly acts: boolean;
  readonly numbers: ReadonlySet<string>;
}

/** What tools declare of themselves, noted as they are registered: so that no second list can lack one. */
export class DeclaredTools {
  readonly #tools = new Map<string, Declared>();

  constructor(server: McpServer) {
    const register = server.registerTool.bind(server);
    server.registerTool = ((name, config, handler) => {
      const acts = config.annotations?.readOnlyHint !== true;
      this.#tools.set(name, { acts, numbers: numbersOf(config.inputSchema) });
      return register(name, config, handler);
    }) as McpServer['registerTool'];
  }

  /** Tells whether a tool changes something. */
  acts(tool: string): boolean {
    return this.#tools.get(tool)?.acts ?? false;
  }

  /** The names of a tool's arguments that are numbers. */
  numbers(tool: string): ReadonlySet<string> {
    return this.#tools.get(tool)?.numbers ?? new Set();
  }
}

function numbersOf(shape: unknown): ReadonlySet<string> {
  const { properties = {} } = z.toJSONSchema(z.object(shape as z.ZodRawShape), { io: 'input' });
  const names = Object.entries(properties).filter(([, schema]) => isNumber(schema));
  return new Set(names.map(([name]) => name));
}

function isNumber(schema: z.core.JSONSchema._JSONSchema): boolean {
  if (typeof schema === 'boolean') return false;
  if (schema.anyOf !== undefined) return schema.anyOf.every(isNumber);
  return schema.type === 'number' || schema.type === 'integer';
}
