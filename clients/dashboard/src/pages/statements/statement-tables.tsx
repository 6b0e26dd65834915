import type { components } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { lastRentalsQuery } from '../../data/statements.js';
import { number } from '../../format/number.js';
import { statementTexts as texts } from '../../texts/statements.js';
import { rentalTitle } from '../rentals/matching.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Money } from '../../ui/money.js';
import { Table, Td, Th } from '../../ui/table.js';
import { useMedia } from '../../ui/use-media.js';

type StatementRental = components['schemas']['StatementRental'];
type StatementGroup = components['schemas']['StatementGroup'];

/** So many lines are drawn anew each time that the sums of a running month are read. */
const MOST = 200;

/** What each rental cost: the costliest ones at first, where there are many. On paper they are all there. */
export function RentalTable({ rentals }: { readonly rentals: readonly StatementRental[] }) {
  const { data } = useQuery(lastRentalsQuery);
  const [isAskedFor, setAskedFor] = useState(false);
  const isPrinted = useMedia('print');
  const isWhole = rentals.length <= MOST || isAskedFor || isPrinted;
  const shown = isWhole
    ? rentals
    : rentals.toSorted((one, other) => one.amountCents - other.amountCents).slice(0, MOST);
  const titles = new Map(data?.rentals.map((rental) => [rental.id, rentalTitle(rental)]));
  return (
    <Card title={texts.rentals} isFlush>
      {rentals.length === 0 ? (
        <p className="px-4 py-3 text-muted">{texts.noRentals}</p>
      ) : (
        <SumTable label={texts.rentals} first={texts.columns.rental} sums={rentals}>
          {shown.map((rental) => (
            <SumRow key={rental.rentalId} sum={rental}>
              <Link
                to="/app/rentals/$rentalId"
                params={{ rentalId: rental.rentalId }}
                className="font-medium break-words hover:underline"
              >
                {titles.get(rental.rentalId) ?? rental.rentalId}
              </Link>
              {titles.has(rental.rentalId) && (
                <span className="block font-mono text-xs break-all text-muted">{rental.rentalId}</span>
              )}
            </SumRow>
          ))}
        </SumTable>
      )}
      {!isWhole && (
        <div className="flex flex-wrap items-center gap-3 px-4 py-3 text-[13px] text-muted">
          {texts.costliest(number(MOST), number(rentals.length))}
          <Button size="small" onClick={() => setAskedFor(true)}>
            {texts.showAll}
          </Button>
        </div>
      )}
    </Card>
  );
}

interface LabelTableProps {
  readonly labelKey: string;
  readonly groups: readonly StatementGroup[];
}

/** What the values of a label cost; all groups together are all that moved the wallet. */
export function LabelTable({ labelKey, groups }: LabelTableProps) {
  const title = texts.labels(labelKey);
  return (
    <Card title={title} isFlush>
      {groups.length === 0 ? (
        <p className="px-4 py-3 text-muted">{texts.noEntries}</p>
      ) : (
        <SumTable label={title} first={texts.columns.value} sums={groups}>
          {groups.map((group) => (
            <SumRow key={`${group.kind} ${group.value ?? ''}`} sum={group}>
              <span className={classes('break-words', group.kind === 'label' ? 'font-medium' : 'text-muted')}>
                {group.kind === 'label'
                  ? group.value
                  : group.kind === 'unlabelled'
                    ? texts.unlabelled
                    : texts.other}
              </span>
            </SumRow>
          ))}
        </SumTable>
      )}
    </Card>
  );
}

type Sum = Omit<StatementRental, 'rentalId'>;

interface SumTableProps {
  readonly label: string;
  readonly first: string;
  readonly sums: readonly Sum[];
  readonly children: ReactNode;
}

function SumTable({ label, first, sums, children }: SumTableProps) {
  const { columns } = texts;
  const all = (of: (sum: Sum) => number): number => sums.reduce((total, sum) => total + of(sum), 0);
  const total: Sum = {
    entries: all(({ entries }) => entries),
    chargedCents: all(({ chargedCents }) => chargedCents),
    refundedCents: all(({ refundedCents }) => refundedCents),
    amountCents: all(({ amountCents }) => amountCents),
  };
  return (
    <Table label={label}>
      <thead>
        <tr>
          <Th>{first}</Th>
          <Th className="text-right max-sm:hidden">{columns.entries}</Th>
          <Th className="text-right max-sm:hidden">{columns.charged}</Th>
          <Th className="text-right max-sm:hidden">{columns.refunded}</Th>
          <Th className="text-right">{columns.amount}</Th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
      <tfoot>
        <SumRow sum={total}>
          <span className="font-semibold">{texts.sum}</span>
        </SumRow>
      </tfoot>
    </Table>
  );
}

function SumRow({ sum, children }: { readonly sum: Sum; readonly children: ReactNode }) {
  return (
    <tr className="break-inside-avoid">
      <Td>{children}</Td>
      <Td className="text-right tabular max-sm:hidden">{number(sum.entries)}</Td>
      <Td className="text-right max-sm:hidden">
        <Money cents={sum.chargedCents} />
      </Td>
      <Td className="text-right max-sm:hidden">
        <Money cents={sum.refundedCents} />
      </Td>
      <Td className="text-right font-medium">
        <Money cents={sum.amountCents} isSigned />
      </Td>
    </tr>
  );
}
