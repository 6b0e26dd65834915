import { notebookPort } from '../../domain/rentals/notebook.js';
import { named, object, text } from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { rentalId } from './describe.js';

/** Decision 168, "Notebook tokens". */
export const showEndpointToken = operation({
  method: 'get',
  path: '/v1/rentals/:id/endpoints/:name/token',
  scope: 'rentals',
  name: 'showEndpointToken',
  tag: 'Rentals',
  summary: 'The token that opens an endpoint',
  description:
    'For endpoints whose `auth` is `token`, until the rental ends. Enter it on the endpoint’s own page; never put it into a URL. An API key reads only those of rentals that it opened.',
  parameters: [
    rentalId,
    {
      name: 'name',
      in: 'path',
      description: 'The endpoint’s name.',
      schema: { type: 'string' },
      example: notebookPort.name,
    },
  ],
  answers: [
    {
      description: 'The token.',
      schema: named('EndpointToken', object({ token: text })),
      examples: [{ token: '5f'.repeat(32) }],
    },
  ],
  refusals: ['rental_not_found', 'endpoint_not_found', 'session_required'],
});

export const tokenOperations: readonly Operation[] = [showEndpointToken];
