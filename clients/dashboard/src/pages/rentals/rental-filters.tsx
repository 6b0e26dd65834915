import { number } from '../../format/number.js';
import { rentalListTexts } from '../../texts/rental-list.js';
import { rentalTexts } from '../../texts/rentals.js';
import { ClearFilters } from '../../ui/clear-filters.js';
import { Field, Input, Select } from '../../ui/field.js';
import { useTypedFilter } from '../../ui/use-typed.js';
import { isLabel, readRentalsSearch, rentalSorts, rentalStatuses, type RentalsSearch } from './search.js';

const texts = rentalListTexts;

interface RentalFiltersProps {
  readonly search: RentalsSearch;
  /** How many there are of each status, as far as that is known. */
  readonly counts: Readonly<Record<string, number>> | null | undefined;
  readonly onChange: (search: RentalsSearch) => void;
}

/** What the list of rentals may be narrowed by. */
export function RentalFilters({ search, counts, onChange }: RentalFiltersProps) {
  const change = (fields: Readonly<Record<string, unknown>>): void =>
    onChange(readRentalsSearch({ ...search, ...fields }));
  const q = useTypedFilter(search.q ?? '', (text) => change({ q: text.trim() }));
  const label = useTypedFilter(search.label ?? '', (text) => {
    if (text.trim() === '' || isLabel(text.trim())) change({ label: text.trim() });
  });
  const isWrong = label.value.trim() !== '' && !isLabel(label.value.trim());
  return (
    <search
      aria-label={texts.filters}
      className="grid grid-cols-2 items-start gap-3 rounded-lg border border-line bg-surface p-4 sm:grid-cols-[1.5fr_1fr] lg:grid-cols-[2fr_1.1fr_1.3fr_1.1fr]"
    >
      <Field label={texts.search} className="max-sm:col-span-2">
        {(ids) => <Input {...ids} {...q} type="search" placeholder={texts.searchHint} autoComplete="off" />}
      </Field>
      <Field label={texts.status}>
        {(ids) => (
          <Select
            {...ids}
            value={search.status ?? ''}
            onChange={(event) => change({ status: event.target.value })}
          >
            <option value="">{texts.anyStatus}</option>
            {rentalStatuses.map((status) => (
              <option key={status} value={status}>
                {statusWord(status, counts?.[status])}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={texts.label} error={isWrong ? texts.labelError : undefined}>
        {(ids) => (
          <Input
            {...ids}
            {...label}
            placeholder={texts.labelHint}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
          />
        )}
      </Field>
      <Field label={texts.sort} className="max-sm:col-span-2">
        {(ids) => (
          <Select
            {...ids}
            value={search.sort ?? rentalSorts[0]}
            onChange={(event) => change({ sort: event.target.value })}
          >
            {rentalSorts.map((sort) => (
              <option key={sort} value={sort}>
                {texts.sorts[sort]}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {Object.keys(search).length > 0 && <ClearFilters onClear={() => onChange({})} />}
    </search>
  );
}

function statusWord(status: (typeof rentalStatuses)[number], count: number | undefined): string {
  const word = rentalTexts.status[status];
  return count === undefined ? word : texts.counted(word, number(count));
}
