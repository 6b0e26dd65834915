import type { Mail } from './store.js';

/** Shown pages run no script and fetch nothing, whatever a mail contains. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The list of mails, newest first; it reloads itself, so that a new code appears by waiting. */
export function listPage(mails: readonly Mail[]): string {
  const rows = mails.map(
    (mail) =>
      `<tr><td>${time(mail.receivedAt)}</td><td>${escapeHtml(mail.to.join(', '))}</td>` +
      `<td><a href="/inbox/${encodeURIComponent(mail.id)}">${escapeHtml(mail.subject || '(no subject)')}</a></td></tr>`,
  );
  const table =
    rows.length === 0
      ? '<p>No mail yet. What the service sends shows up here.</p>'
      : `<table><thead><tr><th>Received</th><th>To</th><th>Subject</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
  return layout('Mail inbox', `<h1>Mail inbox</h1>${table}`, '<meta http-equiv="refresh" content="5">');
}

/** One mail: its text, and its HTML in a frame that may run nothing. */
export function mailPage(mail: Mail): string {
  const field = (name: string, value: string) => `<tr><th>${name}</th><td>${escapeHtml(value)}</td></tr>`;
  const attachments = mail.attachments.map(({ filename, sizeBytes }) => `${filename} (${sizeBytes} bytes)`);
  const fields = [
    field('From', mail.from),
    field('To', mail.to.join(', ')),
    field('Received', mail.receivedAt),
    ...(typeof mail.listUnsubscribe === 'string' ? [field('List-Unsubscribe', mail.listUnsubscribe)] : []),
    ...(attachments.length === 0 ? [] : [field('Attachments', attachments.join(', '))]),
  ];
  const frame =
    mail.html === null
      ? ''
      : `<h2>HTML part</h2><iframe sandbox title="HTML part" srcdoc="${escapeHtml(mail.html)}"></iframe>`;
  return layout(
    mail.subject,
    `<p><a href="/">All mails</a></p><h1>${escapeHtml(mail.subject || '(no subject)')}</h1>` +
      `<table>${fields.join('')}</table><h2>Text part</h2><pre>${escapeHtml(mail.text)}</pre>${frame}`,
  );
}

/** The page to which the payment page sends the payer back: the local stack has no dashboard. */
export function returnPage(session: string | null): string {
  const words =
    session === 'success'
      ? 'The payment was made. The wallet is credited when the processor has told the service, and the receipt arrives in the inbox.'
      : 'The payment was not made. Nothing was charged.';
  return layout(
    'Back from the payment',
    `<h1>Back from the payment</h1><p>${words}</p><p><a href="/">Mail inbox</a></p>`,
  );
}

export function notFoundPage(): string {
  return layout(
    'Not found',
    '<h1>Not found</h1><p>This page or mail does not exist. <a href="/">Mail inbox</a></p>',
  );
}

function time(iso: string): string {
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(iso.replace('T', ' ').slice(0, 19))} UTC</time>`;
}

function layout(title: string, body: string, head = ''): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>${head}<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: 1rem; }
iframe { width: 100%; height: 36rem; border: 1px solid #ddd; }
</style></head><body>${body}</body></html>
`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
