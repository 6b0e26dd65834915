import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ApiContext, ApiRouter } from '../context.js';
import { Refusal } from '../../domain/refusal.js';
import type { Step } from '../http/middleware/session.js';

export const documentPath = '/v1/openapi.json';
export const docsPath = '/docs';

/** The files of Swagger UI's distribution that the page needs, with their types. */
const distributed: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};
const START = 'start.js';

/** Everything below /docs. */
export const docsFiles: readonly string[] = [...Object.keys(distributed), START];

const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/**
 * Allows nothing from elsewhere, and no script but the files above. Styles may stand in the page, because Swagger UI
 * writes some; images may, because its style sheet holds its icons.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>GPU rental API</title>
    <link rel="stylesheet" href="${docsPath}/swagger-ui.css">
    <link rel="icon" type="image/png" href="${docsPath}/favicon-32x32.png">
  </head>
  <body>
    <div id="page"></div>
    <script src="${docsPath}/swagger-ui-bundle.js"></script>
    <script src="${docsPath}/${START}"></script>
  </body>
</html>
`;

/**
 * The page can try out reads only: its origin need not be one that may make changes (decision 12, "Allowed origins").
 */
const START_SCRIPT = `SwaggerUIBundle({
  url: '${documentPath}',
  dom_id: '#page',
  deepLinking: true,
  validatorUrl: null,
  supportedSubmitMethods: ['get'],
});
`;

/** The page of the API's description, made from files of this service alone. */
export function docsRoutes(router: ApiRouter): void {
  router.get(docsPath, showPage());
  router.get(`${docsPath}/:file`, showFile());
}

function showPage(): Step {
  return (ctx) => {
    guard(ctx);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = PAGE;
    return Promise.resolve();
  };
}

function showFile(): Step {
  return (ctx) => {
    const file = ctx.params['file'] ?? '';
    const type = Object.hasOwn(distributed, file) ? distributed[file] : undefined;
    if (type === undefined && file !== START) {
      throw new Refusal('not_found', `There is nothing at ${ctx.path}. The page is at ${docsPath}.`);
    }
    guard(ctx);
    ctx.type = type ?? 'text/javascript; charset=utf-8';
    ctx.body = type === undefined ? START_SCRIPT : createReadStream(join(folder, file));
    return Promise.resolve();
  };
}

function guard(ctx: ApiContext): void {
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('X-Content-Type-Options', 'nosniff');
  ctx.set('Cache-Control', 'public, max-age=300');
}
