import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { Dialog as Radix } from 'radix-ui';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { Rental } from '@gpu-rental/client';
import { familiesQuery } from '../../data/catalog.js';
import { liveRentalsQuery, rentalsQuery } from '../../data/rentals.js';
import { paletteTexts } from '../../texts/palette.js';
import { SearchIcon } from '../../ui/icons.js';
import { findItems, type PaletteGroup, type PaletteItem } from './palette-items.js';

const { palette } = paletteTexts;

interface PaletteProps {
  readonly onClose: () => void;
  readonly onHelp: () => void;
  readonly onStop: (rental: Rental) => void;
}

/** Leads to any page or machine by its name, and acts: rents, adds money, stops. */
export function Palette({ onClose, onHelp, onStop }: PaletteProps) {
  const router = useRouter();
  const { data } = useInfiniteQuery(rentalsQuery());
  const { data: live = [] } = useQuery(liveRentalsQuery);
  const { data: families = [] } = useQuery(familiesQuery);
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(0);
  const rentals = data?.pages.flatMap((page) => page.rentals) ?? [];
  const groups = findItems(typed, { rentals, live, families }, { onHelp, onStop });
  const items = groups.flatMap((group) => group.items);
  const current = items[Math.min(place, items.length - 1)];
  const choose = ({ to, act }: PaletteItem): void => {
    onClose();
    act?.();
    if (to !== undefined) router.history.push(to);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step !== undefined && items.length > 0) setPlace((place + step + items.length) % items.length);
    else if (event.key === 'Enter' && current) choose(current);
    else return;
    event.preventDefault();
  };
  return (
    <Frame onClose={onClose}>
      <div className="flex items-center gap-3 border-b border-line px-4">
        <SearchIcon className="size-5 text-muted" />
        <input
          role="combobox"
          aria-expanded
          aria-controls="palette-results"
          aria-activedescendant={current && optionId(current)}
          aria-label={palette.title}
          autoComplete="off"
          spellCheck={false}
          placeholder={palette.placeholder}
          value={typed}
          onChange={({ target }) => {
            setTyped(target.value);
            setPlace(0);
          }}
          onKeyDown={onKeyDown}
          className="h-13 min-w-0 flex-1 bg-transparent text-base outline-none placeholder:text-muted"
        />
      </div>
      <Results groups={groups} current={current} onChoose={choose} />
      <p role="status" className={items.length === 0 ? 'px-4 py-8 text-center text-muted' : 'sr-only'}>
        {items.length === 0 ? palette.none : palette.count(items.length)}
      </p>
    </Frame>
  );
}

const steps: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 };

const optionId = ({ id }: PaletteItem): string => `palette-${id}`;

function Frame({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  return (
    <Radix.Root open onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed top-[max(0.75rem,env(safe-area-inset-top))] left-1/2 z-50 flex max-h-[min(32rem,80dvh)] w-[min(38rem,calc(100vw-1.5rem))] -translate-x-1/2 flex-col overflow-hidden rounded-xl border border-line bg-raised shadow-xl sm:top-[12vh]"
        >
          <Radix.Title className="sr-only">{palette.title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ResultsProps {
  readonly groups: readonly PaletteGroup[];
  readonly current: PaletteItem | undefined;
  readonly onChoose: (item: PaletteItem) => void;
}

function Results({ groups, current, onChoose }: ResultsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  return (
    <div
      ref={list}
      id="palette-results"
      role="listbox"
      aria-label={palette.results}
      className="min-h-0 overflow-y-auto p-2"
    >
      {groups.map(({ title, items }) => (
        <div key={title} role="group" aria-label={title}>
          <p aria-hidden="true" className="px-2 pt-2 pb-1 text-xs font-medium text-muted">
            {title}
          </p>
          {items.map((item) => (
            // The field above keeps the focus, and its keys choose.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={item.id}
              id={optionId(item)}
              role="option"
              tabIndex={-1}
              aria-selected={item === current}
              onClick={() => onChoose(item)}
              className="flex min-h-10 cursor-pointer items-center gap-3 rounded-md px-2 text-soft hover:bg-sunken aria-selected:bg-accent-soft aria-selected:text-ink"
            >
              {item.icon}
              <span className="min-w-0 truncate">{item.title}</span>
              {item.note !== undefined && (
                <span className="ml-auto min-w-0 truncate text-xs text-muted">{item.note}</span>
              )}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
