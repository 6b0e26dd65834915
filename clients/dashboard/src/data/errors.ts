import { ConnectionError, isApiError } from '@gpu-rental/client';
import { errorTexts } from '../texts/errors.js';
import { StillUnknown } from './still-unknown.js';

/** A failure that is in plain words already. */
export class PlainError extends Error {
  override readonly name = 'PlainError';
  constructor(
    message: string,
    readonly nextStep: string,
  ) {
    super(message);
  }
}

/** The person did not show who they are, so what asked for it was not done. */
export class ProofCancelled extends PlainError {}

/** A failure as people read it. */
export interface ReadableError {
  /** What happened, in the service's own words where there are any. */
  readonly message: string;
  /** What helps. */
  readonly nextStep: string | undefined;
  /** Names the request to support. */
  readonly requestId: string | undefined;
  /** Where to get help; undefined where the service named nobody. */
  readonly support?: string | undefined;
  /** Whole seconds until trying again makes sense. */
  readonly retryAfterSeconds: number | undefined;
}

/** Reads what was thrown by a call of the API. */
export function readableError(error: unknown): ReadableError {
  if (error instanceof StillUnknown) return readableError(error.cause);
  if (isApiError(error)) {
    const { message, requestId, support, retryAfterSeconds } = error;
    // A wait of minutes stands in the message itself.
    const isLong = (retryAfterSeconds ?? 0) >= 60;
    const nextStep = isLong ? undefined : nextStepOf(error.code);
    return { message, nextStep, requestId, support, retryAfterSeconds };
  }
  if (error instanceof PlainError) {
    const { message, nextStep } = error;
    return { message, nextStep, requestId: undefined, retryAfterSeconds: undefined };
  }
  if (error instanceof ConnectionError) {
    return {
      message: errorTexts.noAnswer,
      nextStep: errorTexts.noAnswerStep,
      requestId: undefined,
      retryAfterSeconds: error.retryAfterSeconds,
    };
  }
  return {
    message: errorTexts.unknown,
    nextStep: errorTexts.unknownStep,
    requestId: undefined,
    retryAfterSeconds: undefined,
  };
}

function nextStepOf(code: string): string | undefined {
  return Object.entries(errorTexts.steps).find(([name]) => name === code)?.[1];
}

/** What the service said of one field of a form, as `name` or `labels.team`; undefined where it said nothing of it. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!isApiError(error, 'validation_failed')) return undefined;
  return error.details?.fields.find((fault) => fault.field === field)?.message;
}
