import { useVirtualizer } from '@tanstack/react-virtual';
import type { LedgerEntry } from '@gpu-rental/client';
import {
  useCallback,
  useEffect,
  useId,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { ledgerTexts } from '../../texts/ledger.js';
import { Button } from '../../ui/button.js';
import type { useHeld } from '../../ui/use-held.js';
import { useMedia } from '../../ui/use-media.js';
import { HeaderRow, LedgerRow } from './ledger-row.js';
import type { LedgerRows, Window } from './rows.js';

/** Whether new entries move the list: not below its top, and not while somebody points at it or has the focus in it. */
export interface Following {
  readonly isAtTop: boolean;
  readonly onAtTop: (isAtTop: boolean) => void;
  /** What the list's frame listens with. */
  readonly hold: ReturnType<typeof useHeld>['hold'];
}

interface LedgerListProps {
  readonly rows: LedgerRows;
  /** What rentals are called, by their ids. */
  readonly labels: ReadonlyMap<string, string>;
  readonly onLook: (looked: Window) => void;
  readonly following: Following;
  readonly onOpen: (entry: LedgerEntry) => void;
  /** What stands below the last line. */
  readonly foot?: ReactNode;
}

const HEADER_HEIGHT = 37;

/** Lines of a fixed height, of which only those on the screen stand in the document. */
export function LedgerList({ rows, labels, onLook, following, onOpen, foot }: LedgerListProps) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const { items, height, rowHeight, scrollTo, pageRows } = useLines(rows.count, frame, onLook);
  const { active, setActive, onKeyDown } = useActiveLine(rows, pageRows, onOpen, scrollTo);
  const openLine = useCallback(
    (index: number, entry: LedgerEntry): void => {
      setActive(index);
      onOpen(entry);
    },
    [setActive, onOpen],
  );
  const isActiveShown = items.some(({ index }) => index === active);
  return (
    <div className="relative" {...following.hold}>
      <NewEntries frame={frame} rows={rows} />
      <div
        ref={frame}
        role="grid"
        aria-label={ledgerTexts.list}
        aria-rowcount={rows.isWhole ? rows.count + 1 : -1}
        aria-readonly="true"
        aria-activedescendant={isActiveShown ? `${id}-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={({ currentTarget }) => {
          const isAtTop = currentTarget.scrollTop < rowHeight / 2;
          if (isAtTop !== following.isAtTop) following.onAtTop(isAtTop);
        }}
        className="group h-[calc(100dvh-9rem)] min-h-80 overflow-x-hidden overflow-y-auto overscroll-contain rounded-b-lg focus-visible:-outline-offset-2 lg:h-[calc(100dvh-21rem)]"
      >
        <div role="rowgroup" className="relative w-full" style={{ height }}>
          <HeaderRow />
          {items.map(({ index, start, size }) => (
            <LedgerRow
              key={index}
              id={`${id}-${index}`}
              entry={rows.at(index)}
              rental={labels.get(rows.at(index)?.rentalId ?? '')}
              index={index}
              isActive={index === active}
              start={start}
              height={size}
              onOpen={openLine}
            />
          ))}
        </div>
        {foot}
      </div>
    </div>
  );
}

/** Which lines are on the screen, and where; on phones a line has two rows of text. */
function useLines(count: number, frame: RefObject<HTMLDivElement | null>, onLook: (looked: Window) => void) {
  const isNarrow = useMedia('(max-width: 639px)');
  const rowHeight = isNarrow ? 61 : 41;
  const paddingStart = isNarrow ? 0 : HEADER_HEIGHT;
  // Nothing here is memoized by a compiler, which is what the rule is about.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    // Lines that come a frame later are better than a frame that waits for them.
    useFlushSync: false,
    paddingStart,
    scrollPaddingStart: paddingStart,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => onLook({ first, last }), [onLook, first, last]);
  const shown = virtualizer.scrollRect?.height ?? 0;
  return {
    items,
    rowHeight,
    height: virtualizer.getTotalSize(),
    scrollTo: (index: number) => virtualizer.scrollToIndex(index, { align: 'auto' }),
    /** How many lines Page Down goes on, so that one that was seen stays. */
    pageRows: Math.max(1, Math.floor(shown / rowHeight) - 2),
  };
}

interface NewEntriesProps {
  readonly frame: RefObject<HTMLDivElement | null>;
  readonly rows: LedgerRows;
}

/** Shows the entries that wait, at the top. */
function NewEntries({ frame, rows: { newer, showNewer } }: NewEntriesProps) {
  return (
    <div className="pointer-events-none absolute inset-x-0 top-12 z-20 flex justify-center max-sm:top-3">
      {newer > 0 && (
        <Button
          look="primary"
          size="small"
          className="pointer-events-auto rounded-full shadow-lg tabular"
          onClick={() => {
            showNewer();
            frame.current?.scrollTo({ top: 0 });
            frame.current?.focus({ preventScroll: true });
          }}
        >
          {newer > 999 ? ledgerTexts.manyNewEntries : ledgerTexts.newEntries(newer.toString())}
        </Button>
      )}
    </div>
  );
}

/** The line that the keyboard is at: arrows, Page Up and Down, Home and End move it, Enter opens it. */
function useActiveLine(
  rows: LedgerRows,
  page: number,
  onOpen: (entry: LedgerEntry) => void,
  scrollTo: (index: number) => void,
) {
  const [active, setActive] = useState(0);
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined && rows.count > 0) {
      event.preventDefault();
      const next = Math.min(rows.count - 1, Math.max(0, active + step));
      setActive(next);
      scrollTo(next);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const entry = rows.at(active);
      if (entry) onOpen(entry);
    }
  };
  return { active: Math.min(active, Math.max(0, rows.count - 1)), setActive, onKeyDown };
}
