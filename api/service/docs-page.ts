import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ApiRouter } from '../context.js';
import { noSuchRoute } from '../http/not-found.js';
import type { Step } from '../http/middleware/session.js';
import { precompressed, type Precompressed } from '../http/precompressed.js';

export const documentPath = '/v1/openapi.json';
export const docsPath = '/docs';

/** The description and its page change with a release: for five minutes nobody asks again, then by their ETag. */
export const pageCache = 'public, max-age=300';
/** The page's files change with Swagger UI: an old one may be shown while a browser asks for the new one. */
const FILE_CACHE = 'public, max-age=3600, stale-while-revalidate=86400';

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
  return guarded(
    precompressed({
      type: 'text/html; charset=utf-8',
      cacheControl: pageCache,
      make: () => Buffer.from(PAGE),
    }),
  );
}

function showFile(): Step {
  const files = new Map<string, Step>([
    [START, showContent('text/javascript; charset=utf-8', () => Buffer.from(START_SCRIPT))],
    ...Object.entries(distributed).map(
      ([file, type]) => [file, showContent(type, () => readFile(join(folder, file)))] as const,
    ),
  ]);
  return (ctx, next) => {
    const show = files.get(ctx.params['file'] ?? '');
    if (!show) throw noSuchRoute(ctx.path, `The page is at ${docsPath}`);
    return show(ctx, next);
  };
}

function showContent(type: string, make: Precompressed['make']): Step {
  return guarded(precompressed({ type, cacheControl: FILE_CACHE, make }));
}

function guarded(show: Step): Step {
  return (ctx, next) => {
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('X-Content-Type-Options', 'nosniff');
    return show(ctx, next);
  };
}
