import type { Paint } from '../output/colour.js';
import { usd } from '../output/money.js';
import { table, type Column } from '../output/table.js';
import { cut } from '../output/text.js';
import { duration } from '../output/time.js';
import { shortId } from '../views/rental.js';
import type { Row, Seen } from './live-state.js';

/** The columns and lines of a terminal. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws what is seen, for a terminal of a size; each line fits, and rows that do not are told of. */
export function viewOf(all: Seen, news: readonly string[], { width, height }: Size, paint: Paint): string[] {
  const last = width - 1;
  // Wallet, titles, what happened, the connection, and the lines between.
  const fitting = Math.max(1, height - 7 - news.length - (news.length === 0 ? 0 : 1));
  const total = all.rows.length;
  const seen = total <= fitting ? all : { ...all, rows: all.rows.slice(0, fitting) };
  return [
    walletLine(seen, last, paint),
    '',
    ...(seen.rows.length === 0
      ? ['No machines running. Rent one: gpu rent']
      : table(columnsOf(seen, paint), seen.rows, last, (title) => paint('dim', title))),
    ...(total <= fitting ? [] : [cut(`${fitting} of ${total} shown. To see all: gpu ls`, last)]),
    '',
    ...news.map((line) => cut(line, last)),
    ...(news.length === 0 ? [] : ['']),
    paint('dim', cut(connectionWords[seen.connection], last)),
  ];
}

const connectionWords: Readonly<Record<Seen['connection'], string>> = {
  connecting: 'Connecting. Press q to quit.',
  live: 'Live. Press q to quit; your machines keep running.',
  cut: 'No connection, trying again. Press q to quit.',
};

function walletLine(
  { walletCents, burnPerHourCents, lastsSeconds }: Seen,
  width: number,
  paint: Paint,
): string {
  if (walletCents === undefined) return 'Wallet …';
  const wallet = `Wallet ${usd(walletCents)}`;
  const more = [
    ...(burnPerHourCents === 0 ? [] : [`${usd(burnPerHourCents)} an hour`]),
    ...(lastsSeconds === undefined ? [] : [`lasts ${duration(lastsSeconds)}`]),
  ];
  const fitting = more.filter(
    (_, index) => [wallet, ...more.slice(0, index + 1)].join('   ').length <= width,
  );
  return [paint('bold', wallet), ...fitting].join('   ');
}

function columnsOf({ rows }: Seen, paint: Paint): Column<Row>[] {
  const hasNames = rows.some(({ name }) => name !== null);
  return [
    { title: 'ID', value: ({ id }) => shortId(id) },
    ...(hasNames
      ? [{ title: 'NAME', value: ({ name }: Row) => cut(name ?? '', 20), dropAs: 3 } satisfies Column<Row>]
      : []),
    { title: 'GPUS', value: ({ gpus }) => gpus, dropAs: 2 },
    {
      title: 'STATE',
      value: ({ state }) => state,
      dress: (cell, { isRunning }) => paint(isRunning ? 'green' : 'yellow', cell),
    },
    {
      title: 'RAN',
      value: ({ ranSeconds }) => (ranSeconds === undefined ? '' : duration(ranSeconds)),
      align: 'right',
      dropAs: 1,
    },
    { title: 'COST', value: ({ costCents }) => usd(costCents), align: 'right' },
    {
      title: 'PER HOUR',
      value: ({ pricePerHourCents }) => usd(pricePerHourCents),
      align: 'right',
      dropAs: 4,
    },
  ];
}
