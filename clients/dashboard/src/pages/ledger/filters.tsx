import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { rentalsQuery } from '../../data/rentals.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { Button } from '../../ui/button.js';
import { Field, Input, Select } from '../../ui/field.js';
import { daysOf, entryTypes, isFiltered, isIdOf, readLedgerSearch, type LedgerSearch } from './search.js';

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
    void navigate({ search: readLedgerSearch(next), replace: true, resetScroll: false });
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
      <Field label={filters.from}>
        {(ids) => (
          <Input
            {...ids}
            type="date"
            className={dateFocus}
            value={days.from}
            max={days.to === '' ? undefined : days.to}
            onChange={({ target }) => show({ from: target.value })}
          />
        )}
      </Field>
      <Field label={filters.to}>
        {(ids) => (
          <Input
            {...ids}
            type="date"
            className={dateFocus}
            value={days.to}
            min={days.from === '' ? undefined : days.from}
            onChange={({ target }) => show({ to: target.value })}
          />
        )}
      </Field>
      <Button
        look="quiet"
        className="max-lg:col-span-2 max-lg:justify-self-start max-lg:disabled:hidden lg:mt-6.5"
        disabled={!isFiltered(search)}
        onClick={() => void navigate({ search: {}, replace: true, resetScroll: false })}
      >
        {filters.clear}
      </Button>
    </div>
  );
}

interface RentalFieldProps {
  readonly rental: string | undefined;
  readonly onShow: (rental: string) => void;
}

/** Takes a rental's id, and offers those of the newest rentals. */
function RentalField({ rental = '', onShow }: RentalFieldProps) {
  const listId = useId();
  const [text, setText] = useState(rental);
  const [isWrong, setWrong] = useState(false);
  const { data } = useInfiniteQuery(rentalsQuery());
  const known = data?.pages[0]?.rentals ?? [];
  const take = (typed: string): void => {
    const isRight = typed === '' || isIdOf('rent', typed);
    setWrong(!isRight);
    if (isRight && typed !== rental) onShow(typed);
  };
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    take(text.trim());
  };
  return (
    <form onSubmit={submit}>
      <Field label={filters.rental} error={isWrong ? filters.rentalWrong : undefined}>
        {(ids) => (
          <Input
            {...ids}
            list={listId}
            className="font-mono text-[13px]"
            placeholder={filters.rentalHint}
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={({ target }) => {
              setText(target.value);
              // A choice from the list is the whole id at once.
              if (known.some(({ id }) => id === target.value)) take(target.value);
            }}
            onBlur={() => take(text.trim())}
          />
        )}
      </Field>
      <datalist id={listId}>
        {known.map(({ id, name, model }) => (
          <option key={id} value={id}>
            {name ?? model}
          </option>
        ))}
      </datalist>
    </form>
  );
}
