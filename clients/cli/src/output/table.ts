import { cut, pad, plain, widthOf, wrap } from './text.js';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** Where the terminal is too narrow, the columns with the highest numbers go first; without a number it stays. */
  readonly dropAs?: number;
  /** Before rows become blocks, its cells are cut, down to so many columns. */
  readonly shrinksTo?: number;
  /** Dresses the finished cell. */
  readonly dress?: (cell: string, row: Row) => string;
}

const gap = '  ';
const narrowest = 20;

/**
 * Lays rows out for a terminal: as a table, with columns left out when it is too narrow, or as a block of lines for
 * each row when even that does not fit.
 * @param width the columns of the terminal; Infinity where the output is no terminal
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  dressTitle: (title: string) => string = (title) => title,
): string[] {
  const fitting = chooseColumns(columns, rows, width);
  return fitting === undefined
    ? blocks(columns, rows, Math.max(width, narrowest))
    : aligned(fitting, rows, dressTitle);
}

function chooseColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): readonly Column<Row>[] | undefined {
  let left = [...columns];
  for (;;) {
    const surplus = widthOfTable(left, rows) - width;
    if (surplus <= 0) return left;
    const last = left
      .filter(({ dropAs }) => dropAs !== undefined)
      .toSorted((a, b) => (b.dropAs ?? 0) - (a.dropAs ?? 0))[0];
    if (!last) return shrunk(left, rows, surplus);
    left = left.filter((column) => column !== last);
  }
}

/** Cuts the cells of one column, so that the table fits; undefined when no column gives so much. */
function shrunk<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  surplus: number,
): readonly Column<Row>[] | undefined {
  const giving = columns.find(
    (column) => column.shrinksTo !== undefined && columnWidth(column, rows) - surplus >= column.shrinksTo,
  );
  if (!giving) return undefined;
  const most = columnWidth(giving, rows) - surplus;
  const value = (row: Row): string => cut(plain(giving.value(row)), most);
  return columns.map((column) => (column === giving ? { ...giving, value } : column));
}

function widthOfTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): number {
  return columns.reduce((sum, column) => sum + columnWidth(column, rows) + gap.length, -gap.length);
}

function columnWidth<Row>({ title, value }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((most, row) => Math.max(most, widthOf(plain(value(row)))), widthOf(title));
}

function aligned<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  dressTitle: (title: string) => string,
): string[] {
  const widths = columns.map((column) => columnWidth(column, rows));
  const line = (cells: readonly string[]): string => cells.join(gap).trimEnd();
  return [
    line(columns.map(({ title, align }, index) => dressTitle(pad(title, widths[index] ?? 0, align)))),
    ...rows.map((row) =>
      line(
        columns.map(({ value, align, dress }, index) => {
          const cell = pad(plain(value(row)), widths[index] ?? 0, align);
          return dress === undefined ? cell : dress(cell, row);
        }),
      ),
    ),
  ];
}

/** Each row as lines of their own: its first cell, and below it the others with their titles. */
function blocks<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] {
  const [first, ...others] = columns;
  if (!first) return [];
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    dressed(first, row, cut(plain(first.value(row)), width)),
    ...pairs(
      others.map((column) => [column.title, plain(column.value(row))] as const),
      width,
      (cell, at) => {
        const column = others[at];
        return column === undefined ? cell : dressed(column, row, cell);
      },
      '  ',
    ),
  ]);
}

function dressed<Row>({ dress }: Column<Row>, row: Row, cell: string): string {
  return dress === undefined ? cell : dress(cell, row);
}

/** Lays facts out below each other, each with its name before it; those without a text are left out. */
export function facts(
  pairsOf: readonly (readonly [name: string, text: string | null | undefined])[],
  width: number,
  dressName: (name: string) => string = (name) => name,
): string[] {
  const told = pairsOf.flatMap(([name, text]) =>
    text === null || text === undefined ? [] : [[name, plain(text)] as const],
  );
  return pairs(told, width, (text) => text, '', dressName);
}

function pairs(
  told: readonly (readonly [string, string])[],
  width: number,
  dress: (text: string, index: number) => string,
  indent: string,
  dressName: (name: string) => string = (name) => name,
): string[] {
  const shown = told.map(([name, text], index) => ({ name, text, index })).filter(({ text }) => text !== '');
  const nameWidth = Math.max(0, ...shown.map(({ name }) => widthOf(name)));
  const left = indent.length + nameWidth + gap.length;
  return shown.flatMap(({ name, text, index }) => {
    const [head = '', ...rest] = wrap(text, Math.max(narrowest, width - left));
    return [
      `${indent}${dressName(pad(name, nameWidth))}${gap}${dress(head, index)}`,
      ...rest.map((line) => `${' '.repeat(left)}${dress(line, index)}`),
    ];
  });
}
