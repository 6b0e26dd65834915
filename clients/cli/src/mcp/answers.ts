import {
  ConnectionError,
  isApiError,
  mayBeDone,
  mostOpen,
  openIdOf,
  RentalNotReadyError,
  type AnyApiError,
} from '@gpu-rental/client';
import type { CallToolResult, RequestId } from '@modelcontextprotocol/sdk/types.js';
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
  /** What is left of the time that the tool has, as options of the next request. */
  readonly timeoutMs: number;
  /**
   * Sends what commits something: an agent that gives up does not take back what it asked for, and what may have come of
   * it is remembered for when it asks again.
   */
  commit<T>(send: (options: Pick<Call, 'timeoutMs'>) => Promise<T>): Promise<T>;
}

/** What became of a call. */
export interface CallEnd {
  /** Whether it changed something, or may have. */
  readonly mayBeDone: boolean;
  /** The machine that it was about, where that is known by now. */
  readonly rentalId: string | undefined;
}

/** Is told of calls, beside their answers: one that was cancelled gets none. */
export interface Calls {
  began(id: RequestId): void;
  ended(id: RequestId, end: CallEnd): void;
}

/** What tools are added with. */
export interface ToolOptions extends McpOptions {
  readonly calls: Calls;
}

/** More than an agent has under way. */
const OPEN_MAX = 1_000;

/** What the SDK hands on beside the arguments. */
interface Extra {
  readonly signal: AbortSignal;
  readonly requestId: RequestId;
}

/**
 * Makes of a handler what the SDK calls: what it gives is told as its shape holds it, as JSON, and what it throws is told
 * as a failure that the agent can read, never as one of the protocol.
 */
export function answering<Args, Shape extends z.ZodObject>(
  options: Pick<ToolOptions, 'ownKeyBy' | 'calls'>,
  shape: Shape,
  handler: (args: Args, call: Call) => Promise<z.input<Shape>>,
) {
  /** What failed so that it may be done all the same, by the arguments. */
  const open = new Map<string, unknown>();
  return async (args: Args, { signal, requestId }: Extra): Promise<CallToolResult> => {
    const { calls } = options;
    const end = { mayBeDone: false, rentalId: undefined as string | undefined };
    calls.began(requestId);
    const asked = JSON.stringify(args);
    const endsAt = Date.now() + TOOL_WITHIN_MS;
    const timeLeft = (): number => Math.max(1, endsAt - Date.now());
    const commit: Call['commit'] = async (send) => {
      try {
        const answer = await send({ timeoutMs: timeLeft() });
        open.delete(asked);
        end.mayBeDone = true;
        return answer;
      } catch (error) {
        const before = open.get(asked);
        open.delete(asked);
        const left = mostOpen(before, error);
        if (mayBeDone(left)) open.set(asked, left);
        end.mayBeDone = open.has(asked);
        end.rentalId = openIdOf(left);
        for (const oldest of [...open.keys()].slice(0, -OPEN_MAX)) open.delete(oldest);
        throw error;
      }
    };
    try {
      const given = await handler(args, {
        ...{ signal, commit },
        get timeoutMs() {
          return timeLeft();
        },
      });
      const { success, data } = shape.safeParse(given);
      if ('rentalId' in given && typeof given['rentalId'] === 'string') end.rentalId = given['rentalId'];
      if (!success) return { isError: true, content: [textOf({ ...strange, answer: given })] };
      return { content: [textOf(data)], structuredContent: data };
    } catch (error) {
      const told = failureOf(error, options);
      const before = open.get(asked);
      const more = before === undefined || before === error ? {} : openOf(before, error, told);
      return { isError: true, content: [textOf({ ...namedIn(args), ...told, ...more })] };
    } finally {
      calls.ended(requestId, end);
    }
  };
}

/** Why a tool failed, and what its agent can do. */
interface ToldFailure {
  readonly error: string;
  readonly message: string;
  readonly [more: string]: unknown;
  readonly next?: string | undefined;
}

const nothingYet = 'Nothing happened. Try again.';
const unknownYet =
  'The result is unknown. Call the same tool again with the same arguments: it never acts twice.';

/** What is told of a call that was made before, beside why this one failed. */
function openOf(before: unknown, error: unknown, { next = nothingYet }: ToldFailure): object {
  const rentalId = openIdOf(before);
  const first = next === nothingYet || next === unknownYet ? '' : `${next} `;
  // What is refused here is refused again.
  const last = error instanceof ToolRefusal ? 'Look with list.' : unknownYet;
  return {
    outcome: 'unknown',
    ...(rentalId !== undefined && { rentalId }),
    next: `${first}An earlier call may have done it. ${last}`,
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

function failureOf(error: unknown, { ownKeyBy }: Pick<McpOptions, 'ownKeyBy'>): ToldFailure {
  if (error instanceof ToolRefusal) return { error: error.code, message: error.message, ...error.more };
  if (error instanceof Failure) return { error: error.kind, message: error.message, next: error.next };
  if (isApiError(error)) return refusalOf(error, ownKeyBy);
  if (error instanceof RentalNotReadyError) {
    return { error: 'not_ready', message: error.message, rentalId: error.rental.id };
  }
  if (error instanceof ConnectionError) {
    const next = error.neverSent ? nothingYet : unknownYet;
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
): ToldFailure {
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
