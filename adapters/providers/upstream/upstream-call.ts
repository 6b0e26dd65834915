import {
  HttpFailure,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  type ListAnswer,
  type ListRequest,
} from './http-client.js';
import { ProviderError } from '../provider.js';
import { errorOfAnswer, errorOfFailure, type CallEffect } from './upstream-errors.js';

/**
 * One request whose answer must be a success.
 * @param what the step in words, for errors: "creating a pod"
 * @throws ProviderError
 */
export async function callUpstream(
  http: HttpClient,
  what: string,
  effect: CallEffect,
  request: HttpRequest,
): Promise<HttpAnswer> {
  let answer: HttpAnswer;
  try {
    answer = await http.request(request);
  } catch (error) {
    throw error instanceof HttpFailure ? errorOfFailure(what, effect, error) : error;
  }
  if (answer.status < 200 || answer.status >= 300) throw errorOfAnswer(what, effect, answer);
  return answer;
}

/**
 * Reads a list that the upstream keeps under a name, element by element. An answer without one says nothing: it must
 * not look like "nothing exists".
 * @throws ProviderError
 */
export async function listFromUpstream<T>(
  http: HttpClient,
  what: string,
  request: ListRequest<T>,
): Promise<T[]> {
  let answer: ListAnswer<T>;
  try {
    answer = await http.list(request);
  } catch (error) {
    throw error instanceof HttpFailure ? errorOfFailure(what, 'buys_nothing', error) : error;
  }
  if (answer.items !== undefined) return answer.items;
  const isSuccess = answer.status >= 200 && answer.status < 300;
  throw errorOfAnswer(isSuccess ? `${what}: no ${request.name} in the answer` : what, 'buys_nothing', answer);
}

/**
 * Asks for the end of a pod. One that is not there is fine here; whether it is gone only the lists tell.
 * @throws ProviderError
 */
export async function endAtUpstream(http: HttpClient, request: HttpRequest): Promise<void> {
  try {
    await callUpstream(http, 'ending a pod', 'buys_nothing', { ...request, repeatable: true });
  } catch (error) {
    const status = error instanceof ProviderError ? error.details.status : undefined;
    if (status !== 404 && status !== 410) throw error;
  }
}
