import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import { create, type Font } from 'fontkit';

/**
 * The fonts that show a text, in the order in which they are asked. The last one has a sign for every character, in no
 * beauty: whoever is named on a receipt is never a row of boxes.
 */
const files = [
  ...['latin', 'latin-ext', 'cyrillic', 'cyrillic-ext', 'greek', 'greek-ext', 'vietnamese', 'devanagari'].map(
    (part) => `@fontsource/noto-sans/files/noto-sans-${part}-400-normal.woff`,
  ),
  '@fontsource/noto-sans-arabic/files/noto-sans-arabic-arabic-400-normal.woff',
  '@fontsource/noto-sans-hebrew/files/noto-sans-hebrew-hebrew-400-normal.woff',
  '@fontsource/unifontex/files/unifontex-latin-400-normal.woff',
];

/** A font that is read when a text first needs it. */
export class LazyFont {
  readonly name: string;
  #sfnt: Buffer<ArrayBuffer> | undefined;
  #font: Font | undefined;

  constructor(file: string) {
    this.name = file;
  }

  /** As OpenType: the reader of the packed form unpacks a whole table for each sign. */
  get sfnt(): Buffer<ArrayBuffer> {
    this.#sfnt ??= unpacked(readFileSync(resolve(this.name)));
    return this.#sfnt;
  }

  has(codePoint: number): boolean {
    // A file of one font gives one font.
    this.#font ??= create(this.sfnt) as Font;
    return this.#font.hasGlyphForCodePoint(codePoint);
  }
}

const { resolve } = createRequire(import.meta.url);
const fonts = files.map((file) => new LazyFont(file));
/** Shows most texts. */
export const mainFont = fontAt(0);
const lastFont = fontAt(-1);

function fontAt(place: number): LazyFont {
  const font = fonts.at(place);
  if (!font) throw new Error('receipts have no fonts');
  return font;
}

/** A part of a text that one font shows. */
export interface Run {
  readonly font: LazyFont;
  readonly text: string;
}

/** Cuts a text into parts that one font shows each; a font goes on as long as it can. */
export function runsOf(text: string): Run[] {
  const runs: { font: LazyFont; text: string }[] = [];
  for (const sign of text) {
    const codePoint = sign.codePointAt(0) ?? 0;
    const last = runs.at(-1);
    const font = last?.font.has(codePoint)
      ? last.font
      : (fonts.find((each) => each.has(codePoint)) ?? lastFont);
    if (last?.font === font) last.text += sign;
    else runs.push({ font, text: sign });
  }
  return runs.map(({ font, text: part }) => ({ font, text: isRightToLeft(part) ? kept(part) : part }));
}

const isRightToLeft = (text: string): boolean => /\p{Script=Arabic}|\p{Script=Hebrew}/u.test(text);

/** The library turns words round one by one, and loses the blanks between them: so they are one word. */
const kept = (text: string): string => text.replaceAll(' ', '\u00a0');

const WOFF_HEAD = 44;
const WOFF_ENTRY = 20;
const SFNT_HEAD = 12;
const SFNT_ENTRY = 16;

/** Unpacks a WOFF file (W3C, WOFF 1.0) to the OpenType font in it. */
export function unpacked(woff: Buffer): Buffer<ArrayBuffer> {
  const count = woff.readUInt16BE(12);
  const head = Buffer.alloc(SFNT_HEAD + SFNT_ENTRY * count);
  woff.copy(head, 0, 4, 8);
  head.writeUInt16BE(count, 4);
  const parts: Uint8Array[] = [head];
  let at = head.length;
  for (let table = 0; table < count; table++) {
    const entry = WOFF_HEAD + WOFF_ENTRY * table;
    const [offset, packedBytes, bytes] = [4, 8, 12].map((field) => woff.readUInt32BE(entry + field)) as [
      number,
      number,
      number,
    ];
    const packed = woff.subarray(offset, offset + packedBytes);
    const data = packedBytes === bytes ? packed : inflateSync(packed);
    const to = SFNT_HEAD + SFNT_ENTRY * table;
    woff.copy(head, to, entry, entry + 4);
    woff.copy(head, to + 4, entry + 16, entry + 20);
    head.writeUInt32BE(at, to + 8);
    head.writeUInt32BE(bytes, to + 12);
    const padding = Buffer.alloc((4 - (bytes % 4)) % 4);
    parts.push(data, padding);
    at += bytes + padding.length;
  }
  return Buffer.concat(parts);
}
