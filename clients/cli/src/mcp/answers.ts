import { ConnectionError, isApiError, RentalNotReadyError, type AnyApiError } from '@gpu-rental/client';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import { withoutRoutes } from '../explain-failure.js';
import { Failure } from '../failure.js';
import { printableJson } from '../output/colour.js';
import type { McpOptions } from './options.js';

/** Why a tool did not do what it was asked, in its own words. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
  readonly code: string;

  /** What else the agent is told. */
  readonly more: object;

  constructor(code: string, message: string, more: object = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** How long a tool works at most, in milliseconds: agents give up after a minute. */
export const TOOL_WITHIN_MS = 50_000;

/** What a tool's handler gets beside its arguments. */
export interface Call {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** For what commits something: an agent that gives up does not take back what it asked for. */
export function unended({ timeoutMs }: Call): Omit<Call, 'signal'> {
  return { timeoutMs };
}

/**
 * Makes of a handler what the SDK calls: what it gives is told as its shape holds it, as JSON, and what it throws is told
 * as a failure that the agent can read, never as one of the protocol.
 */
export function answering<Args, Shape extends z.ZodObject>(
  options: Pick<McpOptions, 'ownKeyBy'>,
  shape: Shape,
  handler: (args: Args, call: Call) => Promise<z.input<Shape>>,
) {
  return async (args: Args, extra: { readonly signal: AbortSignal }): Promise<CallToolResult> => {
    try {
      const given = await handler(args, { signal: extra.signal, timeoutMs: TOOL_WITHIN_MS });
      const { success, data } = shape.safeParse(given);
      if (!success) return { isError: true, content: [textOf({ ...strange, answer: given })] };
      return { content: [textOf(data)], structuredContent: data };
    } catch (error) {
      return { isError: true, content: [textOf({ ...namedIn(args), ...failureOf(error, options) })] };
    }
  };
}

/** What was done must be told, also by a service that says it in another way. */
const strange = {
  error: 'unknown_answer',
  message: 'It is done, but this version of gpu does not know the answer. Ask the user to update gpu.',
};

function textOf(value: object): { type: 'text'; text: string } {
  return { type: 'text', text: printableJson(value, 2) };
}

/** A failure names the machine that it is about. */
function namedIn(args: unknown): object {
  const isNamed = typeof args === 'object' && args !== null && 'rentalId' in args;
  return isNamed && args.rentalId !== undefined ? { rentalId: args.rentalId } : {};
}

function failureOf(error: unknown, { ownKeyBy }: Pick<McpOptions, 'ownKeyBy'>): object {
  if (error instanceof ToolRefusal) return { error: error.code, message: error.message, ...error.more };
  if (error instanceof Failure) return { error: error.kind, message: error.message, next: error.next };
  if (isApiError(error)) return refusalOf(error, ownKeyBy);
  if (error instanceof RentalNotReadyError) {
    return { error: 'not_ready', message: error.message, rentalId: error.rental.id };
  }
  if (error instanceof ConnectionError) {
    const next = error.neverSent
      ? 'Nothing happened. Try again.'
      : 'The result is unknown. Call the same tool again with the same arguments: it never acts twice.';
    return { error: 'no_answer', message: 'The service did not answer.', next };
  }
  return { error: 'failed', message: error instanceof Error ? error.message : String(error) };
}

/** The refusals of a key that holds no more. */
const keyless: ReadonlySet<string> = new Set(['key_expired', 'key_revoked', 'key_unknown']);

/** A refusal in words for an agent: where to look by HTTP is none of its tools. */
function refusalOf(
  { code, message, details, requestId, support, retryAfterSeconds }: AnyApiError,
  ownKeyBy: string,
): object {
  const told = Object.entries(details ?? {}).filter(([name]) => name !== 'lookAt');
  return {
    error: code,
    message: withoutRoutes(message),
    ...(keyless.has(code) && { next: `Ask the user to give this server another key: run ${ownKeyBy}` }),
    details: details && Object.fromEntries(told),
    ...{ requestId, support, retryAfterSeconds },
  };
}

/** Cents as people write them. */
export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
