import type Stripe from 'stripe';
import { called } from '../tracing/calls.js';

export type Client = NonNullable<Stripe.StripeConfig['httpClient']>;

/** Makes a client whose calls can be followed. Of a path only the kind of thing is told, since the rest holds ids. */
export function calledClient(client: Client): Client {
  return {
    getClientName: () => client.getClientName(),
    makeRequest: (host, port, path, method, ...rest) => {
      const attributes = {
        'http.request.method': method,
        'server.address': host,
        'stripe.resource': path.split(/[/?]/)[2] ?? '',
      };
      return called({ callee: 'processor', name: method, attributes }, async (note) => {
        const answer = await client.makeRequest(host, port, path, method, ...rest);
        note({ 'http.response.status_code': answer.getStatusCode() });
        return answer;
      });
    },
  };
}
