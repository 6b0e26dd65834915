import type { ReactNode } from 'react';
import { Card } from './card.js';

interface ListCardProps<Item> {
  readonly title: string;
  /** Undefined while they are on their way. */
  readonly items: readonly Item[] | undefined;
  /** Says how many there are; not at all without it. */
  readonly count?: (count: number) => string;
  /** What stands there where there are none. */
  readonly empty?: ReactNode;
  /** Holds the place of one of them, at its size. */
  readonly skeleton?: ReactNode;
  /** What stands below them. */
  readonly foot?: ReactNode;
  /** Shows one, as an item of a list. */
  readonly children: (item: Item) => ReactNode;
}

/** A list in a card, from its first moment on: while it is read, where it is empty, and with what it has. */
export function ListCard<Item>({
  title,
  items,
  count,
  empty,
  skeleton,
  foot,
  children,
}: ListCardProps<Item>) {
  if (items === undefined) {
    return (
      <Card title={title} isFlush>
        <div className="divide-y divide-line">
          {[1, 2].map((place) => (
            <div key={place}>{skeleton}</div>
          ))}
        </div>
      </Card>
    );
  }
  const said = count !== undefined && items.length > 0 && (
    <span className="text-[13px] text-muted">{count(items.length)}</span>
  );
  return (
    <Card title={title} aside={said} isFlush>
      {items.length === 0 ? empty : <ul className="divide-y divide-line">{items.map(children)}</ul>}
      {foot}
    </Card>
  );
}
