import { ConnectionError, isApiError, RentalNotReadyError } from '@gpu-rental/client';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { Failure } from '../failure.js';

/** Why a tool did not do what it was asked, in its own words. */
export class ToolRefusal extends Error {
  override readonly name = 'ToolRefusal';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** How long a tool works at most, in milliseconds: agents give up after a minute. */
export const TOOL_WITHIN_MS = 50_000;

/** What a tool's handler gets beside its arguments. */
export interface Call {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * Makes of a handler what the SDK calls: what it gives is told as JSON, and what it throws is told as a failure that the
 * agent can read, never as one of the protocol.
 */
export function answering<Args>(handler: (args: Args, call: Call) => Promise<object>) {
  return async (args: Args, extra: { readonly signal: AbortSignal }): Promise<CallToolResult> => {
    try {
      const result = await handler(args, { signal: extra.signal, timeoutMs: TOOL_WITHIN_MS });
      return { content: [textOf(result)], structuredContent: { ...result } };
    } catch (error) {
      return { isError: true, content: [textOf(failureOf(error))] };
    }
  };
}

function textOf(value: object): { type: 'text'; text: string } {
  return { type: 'text', text: JSON.stringify(value, null, 2) };
}

function failureOf(error: unknown): object {
  if (error instanceof ToolRefusal) return { error: error.code, message: error.message };
  if (error instanceof Failure) return { error: error.kind, message: error.message, next: error.next };
  if (isApiError(error)) {
    const { code, message, details, requestId, retryAfterSeconds } = error;
    return { error: code, message, details, requestId, retryAfterSeconds };
  }
  if (error instanceof RentalNotReadyError) return { error: 'not_ready', message: error.message };
  if (error instanceof ConnectionError) {
    const next = error.neverSent
      ? 'Nothing was done. Try again.'
      : 'What became of it is not known. Call the same tool with the same arguments again: nothing is done twice.';
    return { error: 'no_answer', message: error.message, next };
  }
  return { error: 'failed', message: error instanceof Error ? error.message : String(error) };
}

/** Cents as people write them. */
export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
