import { type BillingDetails, type Statement, wordOf } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { meQuery } from '../../data/account.js';
import { billingDetailsQuery } from '../../data/billing-details.js';
import { ledgerCsvAddress } from '../../data/ledger.js';
import { statementQuery } from '../../data/statements.js';
import { type Month } from '../../format/days.js';
import { monthName, monthRange } from '../../format/months.js';
import { number } from '../../format/number.js';
import { zonedTime } from '../../format/time.js';
import { ledgerTexts } from '../../texts/ledger.js';
import { statementTexts as texts } from '../../texts/statements.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { CheckIcon, DownloadIcon } from '../../ui/icons.js';
import { Money } from '../../ui/money.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { LabelTable, RentalTable } from './statement-tables.js';
import { checkSums, type CheckedSums } from './sums.js';
import { SupportLink } from '../../ui/support-link.js';

interface SheetProps {
  readonly month: Month;
  readonly zone: string;
  readonly labelKey: string | undefined;
  /** The month is not over. */
  readonly isRunning: boolean;
}

/** How often the sums of a month that runs are read. */
const READ_EVERY_MS = 15_000;

/** A month on paper: balances, what came in and went out, and by what. */
export function StatementSheet({ month, zone, labelKey, isRunning }: SheetProps) {
  const { from, to } = monthRange(month, zone);
  const { data, error, refetch } = useQuery({
    ...statementQuery(from, to, labelKey),
    refetchInterval: isRunning ? READ_EVERY_MS : false,
  });
  const { data: me } = useQuery(meQuery);
  const { data: details } = useQuery(billingDetailsQuery);
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div>
          <h2 className="text-lg font-semibold">{texts.title(monthName(month))}</h2>
          <p className="text-[13px] text-muted tabular">
            {texts.span(zonedTime(from, zone), zonedTime(to, zone))}
          </p>
          {details && <BilledTo details={details} />}
          {me && <p className="text-[13px] text-muted">{texts.account(me.user.email)}</p>}
        </div>
        <div className="no-print flex flex-wrap gap-2">
          <Link to="/app/ledger" search={{ from, to }} className={buttonClasses('secondary', 'small')}>
            {texts.entriesLink}
          </Link>
          <a
            href={ledgerCsvAddress({ from, to })}
            download={texts.csvName(month)}
            className={buttonClasses('secondary', 'small')}
          >
            <DownloadIcon />
            {texts.csv}
          </a>
        </div>
      </div>
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data ? (
        <Sheet statement={data} labelKey={labelKey} isRunning={isRunning} />
      ) : (
        error === null && <Skeleton className="h-80 w-full" />
      )}
    </>
  );
}

/** Whose month it is, in their own words. */
function BilledTo({ details: { name, address, taxId } }: { readonly details: BillingDetails }) {
  return (
    <div className="mt-2 mb-1 text-[13px]">
      {name !== null && <p className="font-medium break-words">{name}</p>}
      {address !== null && <p className="break-words whitespace-pre-line">{address}</p>}
      {taxId !== null && <p>{texts.taxId(taxId)}</p>}
    </div>
  );
}

interface StatementProps {
  readonly statement: Statement;
  readonly labelKey: string | undefined;
  readonly isRunning: boolean;
}

function Sheet({ statement, labelKey, isRunning }: StatementProps) {
  const sums = checkSums(statement);
  return (
    <>
      {sums.faults.length > 0 && (
        <Callout role="alert" tone="bad" title={texts.wrong}>
          <ul className="list-disc pl-5">
            {sums.faults.map((fault) => (
              <li key={fault}>{texts.faults[fault]}</li>
            ))}
          </ul>
          <p>
            {texts.wrongStep} <SupportLink />
          </p>
        </Callout>
      )}
      <Summary statement={statement} sums={sums} isRunning={isRunning} />
      {labelKey !== undefined && statement.groups && (
        <LabelTable labelKey={labelKey} groups={statement.groups} />
      )}
      <RentalTable rentals={statement.rentals} />
    </>
  );
}

interface SummaryProps {
  readonly statement: Statement;
  readonly sums: CheckedSums;
  readonly isRunning: boolean;
}

function Summary({ statement, sums, isRunning }: SummaryProps) {
  const { openingBalanceCents, closingBalanceCents } = statement;
  return (
    <Card title={texts.summary} isFlush>
      <dl>
        <Line label={texts.opening} cents={openingBalanceCents} isStrong />
        <Part title={texts.moneyIn} cents={sums.inCents} statement={statement} isIn />
        <Part title={texts.moneyOut} cents={sums.outCents} statement={statement} isIn={false} />
        <Line label={isRunning ? texts.balanceNow : texts.closing} cents={closingBalanceCents} isStrong />
      </dl>
      <div className="px-4 py-3 text-[13px] text-muted">
        {isRunning && <p>{texts.runningMonth}</p>}
        {sums.faults.length === 0 && (
          <p className="flex items-start gap-1.5">
            <CheckIcon className="mt-0.5 size-4 text-good" />
            {texts.checked}
          </p>
        )}
      </div>
    </Card>
  );
}

interface PartProps {
  readonly title: string;
  readonly cents: number;
  readonly statement: Statement;
  readonly isIn: boolean;
}

/** What came in, or went out, and by which types of entries. */
function Part({ title, cents, statement, isIn }: PartProps) {
  const lines = statement.totals.filter(({ amountCents }) => amountCents !== 0 && amountCents > 0 === isIn);
  return (
    <>
      <Line label={title} cents={cents} isSigned />
      {lines.map(({ type, entries, amountCents }) => (
        <Line
          key={type}
          label={texts.summaryOf(wordOf(ledgerTexts.types, type), texts.entries(number(entries), entries))}
          cents={amountCents}
          isSigned
          isPart
        />
      ))}
    </>
  );
}

interface LineProps {
  readonly label: string;
  readonly cents: number;
  readonly isSigned?: boolean;
  readonly isStrong?: boolean;
  readonly isPart?: boolean;
}

function Line({ label, cents, isSigned = false, isStrong = false, isPart = false }: LineProps) {
  return (
    <div
      className={classes(
        'flex min-h-10 items-center justify-between gap-4 border-b border-line px-4 py-1.5 break-inside-avoid',
        isStrong && 'bg-sunken text-base font-semibold',
        isPart ? 'pl-8 text-muted' : 'font-medium',
      )}
    >
      <dt>{label}</dt>
      <dd>
        <Money cents={cents} isSigned={isSigned} />
      </dd>
    </div>
  );
}
