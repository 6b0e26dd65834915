import type { ApiRouter } from '../context.js';
import { docsRoutes, documentPath, pageCache } from './docs-page.js';
import type { Step } from '../http/middleware/session.js';
import { describeApi } from '../http/openapi/document.js';
import { precompressed } from '../http/precompressed.js';

/** The API's description: GET /v1/openapi.json (OpenAPI 3.1), and as a page at /docs. */
export function openApiRoutes(router: ApiRouter): void {
  router.get(documentPath, showDocument());
  docsRoutes(router);
}

function showDocument(): Step {
  return precompressed({
    type: 'application/json',
    cacheControl: pageCache,
    make: describedOnce,
  });
}

let described: Buffer | undefined;

/**
 * Makes the description, once in a process. It takes up to a tenth of a second, in which nobody is answered: a process
 * makes it before it listens.
 * @returns JSON
 */
export function describedOnce(): Buffer {
  described ??= Buffer.from(JSON.stringify(describeApi()));
  return described;
}
