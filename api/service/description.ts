import type { ApiRouter } from '../context.js';
import { docsRoutes, documentPath } from './docs-page.js';
import type { Step } from '../http/middleware/session.js';
import { describeApi } from '../http/openapi/document.js';

/** The API's description: GET /v1/openapi.json (OpenAPI 3.1), and as a page at /docs. */
export function openApiRoutes(router: ApiRouter): void {
  router.get(documentPath, showDocument());
  docsRoutes(router);
}

function showDocument(): Step {
  // Made at the first request: it takes longer than the rest of a start.
  let document: string | undefined;
  return (ctx) => {
    document ??= JSON.stringify(describeApi());
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = document;
    return Promise.resolve();
  };
}
