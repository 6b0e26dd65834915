import { inflateSync } from 'node:zlib';

/** The texts of a PDF that pdfkit wrote, in the order in which they stand in it; words of one line may be cut apart. */
export function textsOfPdf(pdf: Uint8Array): string {
  const streams = streamsOf(Buffer.from(pdf));
  // Fonts are written at the end, in the order in which the page first named them.
  const maps = streams.filter((stream) => stream.includes('begincmap')).map(signsOf);
  const page = streams.find((stream) => /\bBT\b/.test(stream)) ?? '';
  const names = [...new Set([...page.matchAll(/\/(F\d+) [\d.]+ Tf/g)].map(([, name = '']) => name))];
  const numbers = names.map((name) => Number(name.slice(1))).sort((a, b) => a - b);
  let signs: readonly string[] = [];
  let text = '';
  for (const [found, font, glyphs] of page.matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9a-f]+)>|\bET\b/g)) {
    if (font !== undefined) signs = maps[numbers.indexOf(Number(font.slice(1)))] ?? [];
    else if (glyphs === undefined) text += found === 'ET' ? '\n' : '';
    else text += (glyphs.match(/.{4}/g) ?? []).map((glyph) => signs[parseInt(glyph, 16)] ?? '?').join('');
  }
  return text;
}

function streamsOf(pdf: Buffer): string[] {
  const streams: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 1)) {
    if (pdf.subarray(at - 3, at).toString() === 'end') continue;
    const end = pdf.indexOf('endstream', at);
    try {
      streams.push(inflateSync(pdf.subarray(at + 7, end)).toString('latin1'));
    } catch {
      // It is no packed one.
    }
  }
  return streams;
}

/** The sign of each glyph, by its number. */
function signsOf(map: string): string[] {
  return [...map.matchAll(/<[0-9a-f]+> <[0-9a-f]+> \[([^\]]*)\]/g)].flatMap(([, list = '']) =>
    [...list.matchAll(/<([0-9a-f ]*)>/g)].map(([, units = '']) =>
      String.fromCharCode(...(units.match(/[0-9a-f]{4}/g) ?? []).map((unit) => parseInt(unit, 16))),
    ),
  );
}
