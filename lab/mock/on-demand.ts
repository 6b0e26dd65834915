import { setTimeout as sleep } from 'node:timers/promises';
import type { Middleware } from 'koa';
import type { ApiContext, ApiState } from '../../api/context.js';
import { exampleRefusal } from '../../api/http/openapi/refusals.js';
import { fieldRefusal } from '../../api/http/validation.js';
import { isRefusalCode, refusalStatus } from '../../domain/refusal.js';

type Step = Middleware<ApiState, object>;

/** The headers by which a client asks for outcomes that would otherwise happen by chance. */
export const failureHeader = 'X-Mock-Failure';
export const rentalHeader = 'X-Mock-Rental';
export const cardHeader = 'X-Mock-Card';
export const mockHeaders: readonly string[] = [failureHeader, rentalHeader, cardHeader];

/** Answers a request for a refusal with that refusal: its status, and the example of the API's description. */
export function failOnDemand(): Step {
  return async (ctx, next) => {
    const code = ctx.get(failureHeader);
    if (isRefusalCode(code)) throw exampleRefusal(code);
    if (code === '') {
      await next();
      return;
    }
    throw fieldRefusal(
      failureHeader,
      `${failureHeader} must be one of ${Object.keys(refusalStatus).join(', ')}`,
    );
  };
}

/** Lets every answer take at least this long, as over a network. */
export function wait(latencyMs: number): Step {
  return async (_ctx, next) => {
    if (latencyMs > 0) await sleep(latencyMs);
    await next();
  };
}

/**
 * Reads one of the values that a header may have; the first when the header is absent.
 * @throws Refusal validation_failed that names them all
 */
export function choiceOf<Choice extends string>(
  ctx: ApiContext,
  header: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const given = ctx.get(header);
  const choice = given === '' ? choices[0] : choices.find((each) => each === given);
  if (choice !== undefined) return choice;
  throw fieldRefusal(header, `${header} must be one of ${choices.join(', ')}`);
}
