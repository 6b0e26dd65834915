import { decodeForm, type FormValue } from '../../lab/processor/http/form.js';
import type { ApiDescription } from './api-description.js';
import type { Exchange } from './recording-proxy.js';

/** A difference from the processor's own description. */
export interface Finding {
  readonly where: string;
  readonly reason: string;
}

/** Checks a request and its answer against the description. */
export function checkExchange(api: ApiDescription, exchange: Exchange): Finding[] {
  const { method, path, status } = exchange;
  const where = `${method} ${path} -> ${status}`;
  const operation = api.findOperation(method, path);
  if (operation === undefined) return [{ where, reason: 'the API has no such operation' }];
  const asked = wasTaken(exchange)
    ? [
        ...operation.query(listsOf(decodeForm(exchange.query))).map((line) => `query ${line}`),
        ...operation.body(listsOf(decodeForm(exchange.body))).map((line) => `body ${line}`),
      ]
    : [];
  const answered = [...operation.answer(status)(exchange.answer), ...api.checkObjects(exchange.answer)];
  return [...asked, ...answered.map((line) => `answer ${line}`)].map((reason) => ({ where, reason }));
}

/** Tells whether the simulator accepted the request; a refused request need not be right. */
export function wasTaken({ status }: Exchange): boolean {
  return status < 300 || status === 402;
}

/** Checks an event with the object in it. */
export function checkEvent(api: ApiDescription, event: { readonly type: string }): Finding[] {
  const where = `event ${event.type}`;
  const kind = api.hasEvent(event.type) ? [] : ['the API has no such event'];
  return [...kind, ...api.checkObjects(event)].map((reason) => ({ where, reason }));
}

/**
 * Sends a request once more, to stripe-mock, which knows the API's parameters by itself.
 * @returns a finding when it refuses a request that the simulator took
 */
export async function replay(exchange: Exchange, mockUrl: string): Promise<Finding[]> {
  const { method, path, query, headers, body, status } = exchange;
  if (!wasTaken(exchange)) return [];
  const response = await fetch(`${mockUrl}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    headers: { ...headers, authorization: 'Bearer sk_test_123' },
    ...(body === '' ? {} : { body }),
  });
  const answer = await response.text();
  if (response.ok) return [];
  return [{ where: `${method} ${path} -> ${status}`, reason: `stripe-mock refuses it: ${answer.trim()}` }];
}

/** A form does not tell lists from groups of fields: keys 0, 1, 2, … make a list. */
function listsOf(value: FormValue): unknown {
  if (typeof value === 'string') return value;
  const entries = Object.entries(value).map(([key, field]): [string, unknown] => [key, listsOf(field)]);
  const isList = entries.length > 0 && entries.every(([key], position) => key === String(position));
  return isList ? entries.map(([, field]) => field) : Object.fromEntries(entries);
}
