import { noticeKinds, type OptionalKind } from '../../domain/notices/kinds.js';
import type { ApiContext } from '../context.js';

/** The pages load nothing and run nothing; their one form comes back to where they are from. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Asks whether mails of a kind are to be switched off. The form goes to the page's own address. */
export function showQuestion(ctx: ApiContext, kind: OptionalKind): void {
  show(ctx, 200, 'Turn off these emails?', [
    `<p>You get them about this: ${textOf(kind)}</p>`,
    '<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Turn them off</button></form>',
    '<p>You still get all other emails.</p>',
  ]);
}

/** Tells that mails of a kind are off. */
export function showOff(ctx: ApiContext, kind: OptionalKind): void {
  show(ctx, 200, 'These emails are off', [
    `<p>We no longer email you about this: ${textOf(kind)}</p>`,
    '<p>To turn them back on, sign in and use <code>PUT /v1/notices</code>.</p>',
  ]);
}

/** Answers a link that this installation did not make. */
export function showUnknown(ctx: ApiContext): void {
  show(ctx, 404, 'This link does not work', [
    '<p>It is incomplete, or not ours. Open it from the email itself, or sign in and use <code>PUT /v1/notices</code>.</p>',
  ]);
}

/** Answers a link of an old mail. */
export function showExpired(ctx: ApiContext): void {
  show(ctx, 410, 'This link has expired', [
    '<p>Nothing was changed. Use the link in a newer email, or sign in and use <code>PUT /v1/notices</code>.</p>',
  ]);
}

function textOf(kind: OptionalKind): string {
  const { description } = noticeKinds[kind];
  return description.charAt(0).toLowerCase() + description.slice(1);
}

function show(ctx: ApiContext, status: number, title: string, blocks: readonly string[]): void {
  ctx.set('Content-Security-Policy', POLICY);
  ctx.set('Cache-Control', 'no-store');
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <style>
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem; }
      button { font: inherit; font-weight: 600; padding: 0.75rem 1.25rem; }
    </style>
  </head>
  <body>
    <h1>${title}</h1>
${blocks.map((block) => `    ${block}`).join('\n')}
  </body>
</html>
`;
}
