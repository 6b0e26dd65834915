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
    make: () => Buffer.from(JSON.stringify(describeApi())),
  });
}
