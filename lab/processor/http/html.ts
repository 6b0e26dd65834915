const style = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 34rem; margin: 3rem auto; padding: 0 1rem; }
  label { display: block; margin: .8rem 0 .2rem; }
  input:not([type=checkbox]) { width: 100%; box-sizing: border-box; padding: .6rem; font: inherit; }
  button { margin-top: 1rem; padding: .6rem 1.2rem; font: inherit; cursor: pointer; }
  table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
  .error { padding: .6rem; border: 2px solid #c22; border-radius: .3rem; }
  .note { opacity: .75; font-size: .9rem; }`;

/** Escapes a text for HTML, in element content and in quoted attributes. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** One whole page, without scripts and without external parts. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title><style>${style}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${body}
<p class="note">The lab’s payment processor: no real money moves here.</p>
</body></html>`;
}

/** US cents as people write them: $12.34. */
export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
