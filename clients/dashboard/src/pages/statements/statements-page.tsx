import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { firstEntryQuery } from '../../data/ledger.js';
import { lastRentalsQuery } from '../../data/statements.js';
import { type Month } from '../../format/days.js';
import { localZone, monthName, monthOf, monthsBetween } from '../../format/months.js';
import { useServiceNow } from '../../live/service-clock.js';
import { shellTexts } from '../../texts/shell.js';
import { statementTexts as texts } from '../../texts/statements.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field, Select } from '../../ui/field.js';
import { Page } from '../../ui/page.js';
import { EmptyState, ErrorNote, Skeleton } from '../../ui/states.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { readStatementsSearch } from './search.js';
import { StatementSheet } from './statement-sheet.js';

/** The statement of a month. */
export function StatementsPage() {
  const { data: first, error, refetch } = useQuery(firstEntryQuery);
  return (
    <Page
      title={shellTexts.pages.statements}
      lead={texts.lead}
      className="max-w-4xl"
      actions={first && <Button onClick={() => window.print()}>{texts.print}</Button>}
    >
      {error !== null && first === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {error === null && first === undefined && <Skeleton className="h-96 w-full" />}
      {first === null && <NoStatement />}
      {first && <Chosen firstAt={first.createdAt} />}
    </Page>
  );
}

function NoStatement() {
  return (
    <Card>
      <EmptyState
        title={texts.empty}
        actions={
          <Link to="/app/billing" className={buttonClasses('primary')}>
            {ledgerTexts.emptyAction}
          </Link>
        }
      >
        {texts.emptyText}
      </EmptyState>
    </Card>
  );
}

/** The months that there are, and the one that is looked at. */
function Chosen({ firstAt }: { readonly firstAt: string }) {
  const search = useSearch({ from: '/app/statements' });
  const now = new Date(useServiceNow(60_000)).toISOString();
  const zone = search.zone === 'utc' ? 'UTC' : localZone();
  const thisMonth = monthOf(now, zone);
  const months = monthsBetween(monthOf(firstAt, zone), thisMonth);
  const month = months.find((each) => each === search.month) ?? thisMonth;
  return (
    <>
      <Choice months={months} month={month} />
      <StatementSheet month={month} zone={zone} labelKey={search.label} isRunning={month === thisMonth} />
    </>
  );
}

function Choice({ months, month }: { readonly months: readonly Month[]; readonly month: Month }) {
  const search = useSearch({ from: '/app/statements' });
  const navigate = useNavigate({ from: '/app/statements' });
  const { data } = useQuery(lastRentalsQuery);
  const keys = [
    ...new Set([...(data?.labelKeys ?? []), ...(search.label === undefined ? [] : [search.label])]),
  ];
  const show = (change: Readonly<Record<string, string>>): void => {
    const next = readStatementsSearch({ ...search, ...change });
    void navigate({ search: next, replace: true, resetScroll: false });
  };
  return (
    <div className="no-print grid grid-cols-2 gap-3 sm:grid-cols-3">
      <Field label={texts.month} className="max-sm:col-span-2">
        {(ids) => (
          <Select {...ids} value={month} onChange={({ target }) => show({ month: target.value })}>
            {months.map((each) => (
              <option key={each} value={each}>
                {monthName(each)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={texts.groupBy}>
        {(ids) => (
          <Select
            {...ids}
            value={search.label ?? ''}
            onChange={({ target }) => show({ label: target.value })}
          >
            <option value="">{texts.byRental}</option>
            {keys.map((key) => (
              <option key={key} value={key}>
                {texts.byLabel(key)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={texts.zone}>
        {(ids) => (
          <Select {...ids} value={search.zone ?? ''} onChange={({ target }) => show({ zone: target.value })}>
            {localZone() !== 'UTC' && <option value="">{localZone()}</option>}
            <option value={localZone() === 'UTC' ? '' : 'utc'}>{texts.utc}</option>
          </Select>
        )}
      </Field>
    </div>
  );
}
