import PDFDocument from 'pdfkit';
import { formatUsd } from '../../domain/money.js';
import { brandOf } from '../../domain/payments/card-brands.js';
import type { Receipt } from '../../domain/payments/receipt.js';
import { mainFont, runsOf } from './fonts.js';

const MARGIN = 56;
const WIDTH = 595.28 - 2 * MARGIN;
const COLUMN = WIDTH / 2 - 12;
const RIGHT = MARGIN + WIDTH / 2 + 12;
const ADDRESS_LINES = 6;
const INK = '#16211f';
const SOFT = '#5b6866';
const LINE = '#d8dedc';

/**
 * Writes a receipt as a PDF of one A4 page: its number and date, who sold and who bought, what was paid by which card,
 * and what was taken back of it.
 * @returns the file; the same facts make the same one
 */
export async function receiptPdf(receipt: Receipt): Promise<Buffer> {
  const { topupId, paidAt, seller } = receipt;
  const doc = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    font: mainFont.sfnt as unknown as string,
    info: { Title: `Receipt ${topupId}`, Author: seller.name, CreationDate: paidAt, ModDate: paidAt },
    lang: 'en',
  });
  const pieces: Buffer[] = [];
  const whole = new Promise<Buffer>((resolve, reject) => {
    doc.on('data', (piece: Buffer) => pieces.push(piece));
    doc.on('end', () => resolve(Buffer.concat(pieces)));
    doc.on('error', reject);
  });
  const page = new Page(doc);
  page.text('Receipt', MARGIN, { size: 24 });
  page.gap(16);
  page.facts([
    ['Number', topupId],
    ['Date', `${paidAt.toISOString().slice(0, 10)} (UTC)`],
    ['Paid by', paidBy(receipt)],
  ]);
  page.gap(18);
  page.sides(['From', ...sellerLines(receipt)], ['Billed to', ...buyerLines(receipt)]);
  page.gap(26);
  page.sums(sumsOf(receipt));
  page.gap(20);
  page.text('Prepaid balance for renting machines by the second. All amounts are in US dollars.', MARGIN, {
    colour: SOFT,
  });
  doc.end();
  return whole;
}

function paidBy({ card }: Receipt): string {
  if (card === null) return 'Card';
  return `${brandOf(card.brand)} ending in ${card.last4}`;
}

function sellerLines({ seller: { name, address, taxId } }: Receipt): string[] {
  return [name, ...address, ...(taxId === null ? [] : [`Tax ID: ${taxId}`])];
}

function buyerLines({ buyer: { name, address, taxId }, email }: Receipt): string[] {
  return [
    ...(name === null ? [] : [name]),
    ...addressLines(address ?? ''),
    email,
    ...(taxId === null ? [] : [`Tax ID: ${taxId}`]),
  ];
}

/** The lines of an address; more than fit the page beside the rest are one. */
function addressLines(address: string): string[] {
  const lines = address.split(/\r?\n/).filter((line) => line.trim() !== '');
  const rest = lines.slice(ADDRESS_LINES - 1);
  return [...lines.slice(0, ADDRESS_LINES - 1), ...(rest.length === 0 ? [] : [rest.join(', ')])];
}

type Sum = readonly [label: string, amount: string];

function sumsOf({ isAuto, paidCents, reversedCents }: Receipt): Sum[] {
  const paid: Sum = [isAuto ? 'Automatic top-up' : 'Top-up', formatUsd(paidCents)];
  if (reversedCents === 0) return [paid, ['Total paid', formatUsd(paidCents)]];
  return [
    paid,
    ['Refunded or disputed', `−${formatUsd(reversedCents)}`],
    ['Total after that', formatUsd(paidCents - reversedCents)],
  ];
}

interface Look {
  readonly size?: number;
  readonly colour?: string;
  readonly width?: number;
  readonly isRight?: boolean;
}

/** Writes from the top of a page down. */
class Page {
  readonly #doc: PDFKit.PDFDocument;
  readonly #known = new Set<string>();
  #y = MARGIN;

  constructor(doc: PDFKit.PDFDocument) {
    this.#doc = doc;
  }

  gap(height: number): void {
    this.#y += height;
  }

  /** Writes a text, in as many lines as it takes, and goes on below it. */
  text(text: string, x: number, look: Look = {}): void {
    const { size = 10.5, colour = INK, width = MARGIN + WIDTH - x, isRight = false } = look;
    this.#doc.fontSize(size).fillColor(colour);
    const runs = runsOf(text);
    runs.forEach(({ font, text: part }, at) => {
      if (!this.#known.has(font.name)) this.#doc.registerFont(font.name, font.sfnt);
      this.#known.add(font.name);
      const options = { width, continued: at < runs.length - 1, align: isRight ? 'right' : 'left' } as const;
      this.#doc.font(font.name);
      if (at === 0) this.#doc.text(part, x, this.#y, options);
      else this.#doc.text(part, options);
    });
    this.#y = this.#doc.y + 3;
  }

  facts(facts: readonly Sum[]): void {
    for (const [name, value] of facts) {
      const top = this.#y;
      this.text(name, MARGIN, { colour: SOFT, width: 80 });
      this.#y = top;
      this.text(value, MARGIN + 84);
    }
  }

  /** Two lists of lines beside one another, each under its first line. */
  sides(left: readonly string[], right: readonly string[]): void {
    const top = this.#y;
    const ends = (
      [
        [left, MARGIN],
        [right, RIGHT],
      ] as const
    ).map(([lines, x]) => {
      this.#y = top;
      lines.forEach((line, at) => this.text(line, x, { width: COLUMN, ...(at === 0 && { colour: SOFT }) }));
      return this.#y;
    });
    this.#y = Math.max(...ends);
  }

  /** Amounts below one another; the last one is their sum. */
  sums(sums: readonly Sum[]): void {
    sums.forEach(([label, amount], at) => {
      const isLast = at === sums.length - 1;
      this.#doc.strokeColor(LINE).lineWidth(1);
      this.#doc
        .moveTo(MARGIN, this.#y)
        .lineTo(MARGIN + WIDTH, this.#y)
        .stroke();
      this.gap(8);
      const top = this.#y;
      this.text(label, MARGIN, { size: isLast ? 13 : 10.5 });
      this.#y = top;
      this.text(amount, RIGHT, { width: WIDTH / 2 - 12, isRight: true, size: isLast ? 13 : 10.5 });
      this.gap(6);
    });
  }
}
