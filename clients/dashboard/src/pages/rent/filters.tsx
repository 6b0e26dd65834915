import { useId, useState } from 'react';
import { decimal, decimalOf, parseMoney } from '../../format/money.js';
import { number } from '../../format/number.js';
import { rentTexts } from '../../texts/rent.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { ClearFilters } from '../../ui/clear-filters.js';
import { Field, Input, Select } from '../../ui/field.js';
import { ChevronDownIcon } from '../../ui/icons.js';
import { useTypedFilter } from '../../ui/use-typed.js';
import { gpuCounts } from './gpu-counts.js';
import { RegionOptions } from './region-options.js';
import { familySorts, readRentSearch, type Least, type RentSearch } from './search.js';

const texts = rentTexts.filters;
/** What each may be chosen to be at least. */
const steps: Readonly<Record<Least, readonly number[]>> = {
  vram: [16, 24, 40, 48, 80, 96, 141],
  cpus: [8, 16, 32, 64, 128],
  ram: [32, 64, 128, 256, 512, 1_024],
  disk: [100, 250, 500, 1_000, 2_000],
};

interface FiltersProps {
  readonly search: RentSearch;
  readonly onChange: (search: RentSearch) => void;
  /** The codes of the countries that have offers. */
  readonly countries: readonly string[];
}

/** What the list of families may be narrowed by; on narrow screens all but the name is folded away at first. */
export function Filters({ search, onChange, countries }: FiltersProps) {
  /** Anew from the fields: an empty one takes its filter away. */
  const change = (fields: Readonly<Record<string, unknown>>): void =>
    onChange(readRentSearch({ ...search, ...fields }));
  const [isUnfolded, setUnfolded] = useState(false);
  const id = useId();
  const used = Object.keys(search).filter((name) => name !== 'q').length;
  return (
    <search
      aria-label={texts.title}
      className="grid grid-cols-2 items-start gap-3 rounded-lg border border-line bg-surface p-4 md:grid-cols-3 xl:grid-cols-5"
    >
      <SearchField kept={search.q ?? ''} onKeep={(q) => change({ q })} />
      <Button
        className="col-span-2 md:hidden"
        aria-expanded={isUnfolded}
        aria-controls={id}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        {used === 0 ? texts.unfold : texts.used(used)}
        <ChevronDownIcon className={classes('size-4 transition-transform', isUnfolded && 'rotate-180')} />
      </Button>
      <div
        id={id}
        className={classes('col-span-2 grid grid-cols-2 gap-3 md:contents', !isUnfolded && 'max-md:hidden')}
      >
        <Choices {...{ search, countries, change }} />
      </div>
      {Object.keys(search).length > 0 && <ClearFilters onClear={() => onChange({})} />}
    </search>
  );
}

interface ChoicesProps extends Pick<FiltersProps, 'search' | 'countries'> {
  readonly change: (fields: Readonly<Record<string, unknown>>) => void;
}

function Choices({ search, countries, change }: ChoicesProps) {
  return (
    <>
      <Field label={texts.gpus}>
        {(ids) => (
          <Select
            {...ids}
            value={search.gpus ?? ''}
            onChange={(event) => change({ gpus: Number(event.target.value) })}
          >
            <option value="">{texts.any}</option>
            {gpuCounts.map((count) => (
              <option key={count} value={count}>
                {rentTexts.gpuCount(count)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <LeastField least="vram" {...{ search, change }} />
      <PriceField kept={search.max} onKeep={(max) => change({ max })} />
      {(['cpus', 'ram', 'disk'] as const).map((least) => (
        <LeastField key={least} {...{ least, search, change }} />
      ))}
      <Field label={texts.region} className="max-md:col-span-2">
        {(ids) => (
          <Select
            {...ids}
            value={search.region ?? ''}
            onChange={(event) => change({ region: event.target.value })}
          >
            <RegionOptions countries={countries} chosen={search.region} />
          </Select>
        )}
      </Field>
      <SortField search={search} onChange={change} />
    </>
  );
}

interface LeastFieldProps extends Pick<ChoicesProps, 'search' | 'change'> {
  readonly least: Least;
}

/** How much of something a machine has at least. */
function LeastField({ least, search, change }: LeastFieldProps) {
  const chosen = search[least];
  // An address may ask for any amount.
  const amounts = [...new Set([...steps[least], ...(chosen === undefined ? [] : [chosen])])];
  return (
    <Field label={texts.leasts[least]}>
      {(ids) => (
        <Select
          {...ids}
          value={chosen ?? ''}
          onChange={(event) => change({ [least]: Number(event.target.value) })}
        >
          <option value="">{texts.any}</option>
          {amounts
            .sort((a, b) => a - b)
            .map((amount) => (
              <option key={amount} value={amount}>
                {least === 'cpus' ? texts.orMore(number(amount)) : texts.gbOrMore(number(amount))}
              </option>
            ))}
        </Select>
      )}
    </Field>
  );
}

function SortField({
  search,
  onChange,
}: {
  readonly search: RentSearch;
  readonly onChange: (fields: { readonly sort: string }) => void;
}) {
  return (
    <Field label={texts.sort} className="max-md:col-span-2">
      {(ids) => (
        <Select
          {...ids}
          value={search.sort ?? 'price'}
          onChange={(event) => onChange({ sort: event.target.value })}
        >
          {familySorts.map((sort) => (
            <option key={sort} value={sort}>
              {texts.sorts[sort]}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function SearchField({ kept, onKeep }: { readonly kept: string; readonly onKeep: (text: string) => void }) {
  const typed = useTypedFilter(kept, (text) => onKeep(text.trim()));
  return (
    <Field label={texts.search} className="max-md:col-span-2 xl:col-span-2">
      {(ids) => <Input {...ids} {...typed} type="search" placeholder={texts.searchHint} autoComplete="off" />}
    </Field>
  );
}

interface PriceFieldProps {
  readonly kept: number | undefined;
  readonly onKeep: (cents: number | undefined) => void;
}

/** Dollars as people type them; what is no amount is told, and left out of the address. */
function PriceField({ kept, onKeep }: PriceFieldProps) {
  const typed = useTypedFilter(
    kept === undefined ? '' : decimal(kept),
    (text) => {
      const cents = parseMoney(text);
      if (text.trim() === '' || cents !== undefined) onKeep(cents);
    },
    decimalOf,
  );
  const isWrong = typed.value.trim() !== '' && parseMoney(typed.value) === undefined;
  return (
    <Field label={texts.max} error={isWrong ? texts.maxError : undefined}>
      {(ids) => (
        <Input {...ids} {...typed} inputMode="decimal" placeholder={texts.maxHint} autoComplete="off" />
      )}
    </Field>
  );
}
