import { lineOf, type Link, type Part, type Row } from './parts.js';

/**
 * The HTML part of a mail: one column without a colour of its own, so that it is readable on a phone and in dark mode.
 * It loads nothing, and every text in it is escaped.
 */
export function htmlOf(subject: string, parts: readonly Part[]): string {
  const blocks = groupsOf(parts).map((group) => `${blockOf(group)}\n`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(subject)}</title>
<style>:root { color-scheme: light dark; supported-color-schemes: light dark; }</style>
</head>
<body style="margin:0;padding:16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;overflow-wrap:break-word">
<div style="max-width:560px;margin:0 auto">
<h1 style="font-size:20px;line-height:1.3;margin:0 0 16px">${escaped(subject)}</h1>
${blocks.join('')}${END}`;
}

const END = '</div>\n</body>\n</html>\n';

/** Adds parts at the end of such an HTML part. */
export function withMore(html: string, parts: readonly Part[]): string {
  const more = groupsOf(parts).map((group) => `${blockOf(group)}\n`);
  return html.endsWith(END) ? `${html.slice(0, -END.length)}${more.join('')}${END}` : html;
}

type Kind = 'text' | Exclude<Part, string>['kind'];

/** Puts together what makes one block. Links and commands stand alone. */
function groupsOf(parts: readonly Part[]): Part[][] {
  const groups: Part[][] = [];
  let last: Kind | undefined;
  for (const part of parts) {
    const kind = part === '' ? undefined : kindOf(part);
    const goesOn = kind === last && (kind === 'text' || kind === 'row');
    if (kind !== undefined) {
      if (goesOn) groups.at(-1)?.push(part);
      else groups.push([part]);
    }
    last = kind;
  }
  return groups;
}

function kindOf(part: Part): Kind {
  return typeof part === 'string' ? 'text' : part.kind;
}

function blockOf(group: readonly Part[]): string {
  const [first] = group;
  if (first === undefined || typeof first === 'string') return paragraph(group.map(lineOf).join(' '));
  if (first.kind === 'row') return tableOf(group.filter(isRow));
  if (first.kind === 'link') return linkOf(first);
  return `<pre style="margin:0 0 16px;white-space:pre-wrap;font-size:14px">${escaped(first.line)}</pre>`;
}

function isRow(part: Part): part is Row {
  return typeof part !== 'string' && part.kind === 'row';
}

function tableOf(rows: readonly Row[]): string {
  return `<table style="margin:0 0 16px;border-collapse:collapse">\n${rows.map(rowOf).join('')}</table>`;
}

const CELL = 'padding:4px 16px 4px 0;vertical-align:top;text-align:left';

function rowOf({ cells: [name = '', ...values] }: Row): string {
  const data = values.map((value) => `<td style="${cellOf(value)}">${escaped(value)}</td>`).join('');
  return `<tr><th scope="row" style="${cellOf(name)};font-weight:600">${escaped(name)}</th>${data}</tr>\n`;
}

/** Ids are wider than a phone and may break anywhere; what is shorter stays whole beside them. */
function cellOf(text: string): string {
  return /\S{20}/.test(text) ? `${CELL};overflow-wrap:anywhere` : CELL;
}

/** An address that no browser opens by itself is shown as text. */
function linkOf({ label, url, isButton, line }: Link): string {
  if (url === '') return '';
  if (!/^(https?:\/\/|mailto:)/i.test(url)) return paragraph(line);
  const href = `href="${escaped(url)}"`;
  if (!isButton) return `<p style="margin:0 0 16px;font-size:14px"><a ${href}>${escaped(label)}</a></p>`;
  const shape =
    'display:inline-block;padding:12px 20px;border:2px solid;border-radius:6px;font-weight:600;text-decoration:none';
  return `<p style="margin:0 0 16px"><a ${href} style="${shape}">${escaped(label)}</a></p>`;
}

function paragraph(text: string): string {
  return `<p style="margin:0 0 16px">${escaped(text)}</p>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
