import { isSuccess, readList, readWhole, type HttpAnswer, type ListReading } from './http-answer.js';
import { createHttpClient, HttpFailure, type HttpClientOptions, type HttpRequest } from './http-client.js';
import type { Wait } from '../provider.js';
import { errorOfAnswer, errorOfFailure, type CallEffect } from './upstream-errors.js';

export interface UpstreamCall extends HttpRequest {
  /** The possible effect of a failure; by default it buys nothing. */
  readonly effect?: CallEffect;
  /** Statuses to accept beside a success. */
  readonly accepts?: (status: number) => boolean;
}

/** A list that is read while it arrives, whatever its length. */
export interface UpstreamList<T>
  extends ListReading<T>, Wait, Pick<HttpRequest, 'paces' | 'body' | 'onPart'> {
  readonly path: string;
  /** Default: GET. A search by POST changes nothing either. */
  readonly method?: 'GET' | 'POST';
}

/** An upstream's API: its answers, and each of its failures as a ProviderError that says what may have happened. */
export interface Upstream {
  /**
   * Sends one request whose answer must be a success, or a status that the request accepts.
   * @param what the step in words, for errors: "creating a pod"
   * @throws ProviderError
   */
  call(what: string, request: UpstreamCall): Promise<HttpAnswer>;
  /**
   * Reads a list that the upstream keeps under a name, element by element. An answer without the list fails: it must
   * not look like "nothing exists". Each part of it must come within the client's limit of the one before, and all of
   * it within a minute, unless somebody hears of each part.
   * @throws ProviderError, also for a list that breaks off
   */
  list<T>(what: string, list: UpstreamList<T>): Promise<T[]>;
}

/** Makes an upstream's API over HTTP, with the limits of the client and of the budget. */
export function createUpstream(options: HttpClientOptions): Upstream {
  const http = createHttpClient(options);
  return {
    async call(what, request) {
      const { effect = 'buys_nothing', accepts } = request;
      const answer = await http.send(request, readWhole).catch(failWith(what, effect));
      if (isSuccess(answer.status) || accepts?.(answer.status)) return answer;
      throw errorOfAnswer(what, effect, answer);
    },
    async list(what, list) {
      const { method = 'GET', path, untilMs, paces, body, onPart } = list;
      const request: HttpRequest = {
        ...{ method, path, untilMs, body, onPart, isList: true, use: 'reading', repeatable: true },
        ...(paces === undefined ? {} : { paces }),
      };
      const answer = await http
        .send(request, (response, tellProgress) => readList(response, list, tellProgress))
        .catch(failWith(what, 'buys_nothing'));
      if (answer.items !== undefined) return answer.items;
      const step = isSuccess(answer.status) ? `${what}: no ${list.name} in the answer` : what;
      throw errorOfAnswer(step, 'buys_nothing', answer);
    },
  };
}

/** Tells whether an answer says that the thing to remove is gone already. */
export function isGone(status: number): boolean {
  return status === 404 || status === 410;
}

function failWith(what: string, effect: CallEffect): (error: unknown) => never {
  return (error) => {
    throw error instanceof HttpFailure ? errorOfFailure(what, effect, error) : error;
  };
}
