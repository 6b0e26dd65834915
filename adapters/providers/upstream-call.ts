import { fieldsOf, findList } from './fields.js';
import { HttpFailure, type HttpAnswer, type HttpClient, type HttpRequest } from './http-client.js';
import { ProviderError, type Wait } from './provider.js';
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
 * Reads a list that the upstream keeps under a name. An answer without one says nothing: it must not look like
 * "nothing exists".
 * @throws ProviderError
 */
export async function listFromUpstream(
  http: HttpClient,
  what: string,
  path: string,
  name: string,
  wait: Wait = {},
): Promise<readonly unknown[]> {
  const answer = await callUpstream(http, what, 'buys_nothing', { method: 'GET', path, ...wait });
  const list = findList(fieldsOf(answer.body), name);
  if (list === undefined) throw errorOfAnswer(`${what}: no ${name} in the answer`, 'buys_nothing', answer);
  return list;
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
