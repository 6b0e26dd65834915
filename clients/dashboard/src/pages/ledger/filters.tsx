import { useNavigate } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { ledgerTexts } from '../../texts/ledger.js';
import { shellTexts } from '../../texts/shell.js';
import { Button } from '../../ui/button.js';
import { Field, Input, Select } from '../../ui/field.js';
import { afterPress } from '../../ui/press.js';
import { isLeft } from '../../ui/use-typed.js';
import { useRentalLabels } from './use-rental-labels.js';
import { daysOf, entriesSearch, isFiltered } from './filter.js';
import { entryTypes, isIdOf, readLedgerSearch, type LedgerSearch } from './search.js';

const { filters } = ledgerTexts;

/** The calendar inside a date has the focus without the date's own outline. */
const dateFocus = 'focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-(--focus)';

/** Chooses entries; what is chosen stands in the address. */
export function LedgerFilters({ search }: { readonly search: LedgerSearch }) {
  const navigate = useNavigate({ from: '/app/ledger' });
  const days = daysOf(search);
  const show = (change: Readonly<Record<string, string>>): void => {
    // An empty field is no filter, and the list begins at its newest entry again.
    const next = { ...search, ...change, before: undefined, entry: undefined };
    void navigate({ search: entriesSearch(readLedgerSearch(next)), replace: true, resetScroll: false });
  };
  return (
    <div
      role="search"
      aria-label={filters.title}
      className="grid grid-cols-2 items-start gap-x-3 gap-y-2 lg:grid-cols-[10rem_minmax(0,1fr)_10rem_10rem_auto]"
    >
      <Field label={filters.type}>
        {(ids) => (
          <Select {...ids} value={search.type ?? ''} onChange={({ target }) => show({ type: target.value })}>
            <option value="">{filters.allTypes}</option>
            {entryTypes.map((type) => (
              <option key={type} value={type}>
                {ledgerTexts.types[type]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <RentalField key={search.rental} rental={search.rental} onShow={(rental) => show({ rental })} />
      <DayField
        label={filters.from}
        day={days.from}
        max={days.to === '' ? undefined : days.to}
        onTake={(from) => show({ from })}
      />
      <DayField
        label={filters.to}
        day={days.to}
        min={days.from === '' ? undefined : days.from}
        onTake={(to) => show({ to })}
      />
      <Button
        look="quiet"
        className="max-lg:col-span-2 max-lg:justify-self-start max-lg:disabled:hidden lg:mt-6.5"
        disabled={!isFiltered(search)}
        onClick={() => void navigate({ search: { view: 'entries' }, replace: true, resetScroll: false })}
      >
        {shellTexts.clearFilters}
      </Button>
    </div>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly day: string;
  readonly min?: string | undefined;
  readonly max?: string | undefined;
  readonly onTake: (day: string) => void;
}

/** No day of a ledger is before; the first digit of a year that is typed is the year 2. */
const FIRST_YEAR = '2000';

/** Takes a day once its year is whole, and keeps what is being typed until then. */
function DayField({ label, day, min, max, onTake }: DayFieldProps) {
  const [typed, setTyped] = useState<string>();
  return (
    <Field label={label}>
      {(ids) => (
        <Input
          {...{ ...ids, min, max }}
          type="date"
          className={dateFocus}
          value={typed ?? day}
          onChange={({ target: { value } }) => {
            setTyped(value);
            if (value === '' || value >= FIRST_YEAR) onTake(value);
          }}
          onBlur={() => setTyped(undefined)}
        />
      )}
    </Field>
  );
}

interface RentalFieldProps {
  readonly rental: string | undefined;
  readonly onShow: (rental: string) => void;
}

/** Takes the name or the id of a rental, and offers the names of the newest ones. */
function RentalField({ rental, onShow }: RentalFieldProps) {
  const listId = useId();
  const [typed, setTyped] = useState<string>();
  const [isWrong, setWrong] = useState(false);
  const { labels, isReading } = useRentalLabels(rental);
  const shown = rental === undefined || isReading ? '' : (labels.get(rental) ?? rental);
  const idOf = (text: string): string | undefined =>
    text === '' || isIdOf('rent', text) ? text : [...labels].find(([, label]) => label === text)?.[0];
  const take = (text: string): void => {
    const id = text === shown ? (rental ?? '') : idOf(text);
    setWrong(id === undefined);
    if (id !== undefined && id !== (rental ?? '')) onShow(id);
  };
  const leave = (): void => {
    const place = location.href;
    // A fault that is told pushes down what is pressed, and what is pressed may lead elsewhere.
    afterPress(() => {
      if (!isLeft(place)) take((typed ?? shown).trim());
    });
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    take((typed ?? shown).trim());
  };
  return (
    <form onSubmit={submit}>
      <Field label={filters.rental} error={isWrong ? filters.rentalWrong : undefined}>
        {(ids) => (
          <Input
            {...ids}
            list={listId}
            placeholder={filters.rentalHint}
            autoComplete="off"
            spellCheck={false}
            value={typed ?? shown}
            onChange={({ target }) => {
              setTyped(target.value);
              // A choice from the list is the whole name at once.
              if (idOf(target.value) !== undefined && target.value !== '') take(target.value);
            }}
            onBlur={leave}
          />
        )}
      </Field>
      <datalist id={listId}>
        {[...labels].map(([id, label]) => (
          <option key={id} value={label} />
        ))}
      </datalist>
    </form>
  );
}
