import type { ApiContext, ApiRouter } from '../context.js';
import { docsPath, documentPath } from './docs-page.js';

export const indexPath = '/';
/** Where the payment page returns to, below the address of the dashboard (spec: POST /v1/billing/checkout). */
export const paidPath = '/app/billing';

/** The pages load nothing and run nothing: they are text and links. */
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The pages for people who open the service's address, or return from a payment page, where there is no dashboard. */
export function plainPageRoutes(router: ApiRouter): void {
  router.get(indexPath, showIndex);
  router.get(paidPath, (ctx) => {
    const [title, text] = outcomeOf(ctx.query['session']);
    show(ctx, title, [
      text,
      'Your balance is at <a href="/v1/billing/balance">/v1/billing/balance</a>, your top-ups are at <a href="/v1/billing/topups">/v1/billing/topups</a>, if you are signed in.',
    ]);
  });
}

/** Links to what there is. */
export function showIndex(ctx: ApiContext): void {
  show(ctx, 'GPU rental', [
    `This is the API of the service: <a href="${docsPath}">its documentation</a>, <a href="${documentPath}">its description</a>.`,
  ]);
}

/** The outcome's words. The address proves nothing, so they say no more than the payment page does. */
function outcomeOf(session: unknown): [title: string, text: string] {
  if (session === 'success')
    return ['Thank you', 'Your payment is done. Your wallet is credited within seconds.'];
  if (session === 'cancel') return ['Cancelled', 'The payment was cancelled. You were not charged.'];
  return ['Payments', 'Top up with POST /v1/billing/checkout.'];
}

function show(ctx: ApiContext, title: string, paragraphs: readonly string[]): void {
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'text/html; charset=utf-8';
  const body = paragraphs.map((text) => `    <p>${text}</p>`).join('\n');
  ctx.body = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
  </head>
  <body>
    <h1>${title}</h1>
${body}
  </body>
</html>
`;
}
