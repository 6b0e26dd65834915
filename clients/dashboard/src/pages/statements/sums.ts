import type { Statement } from '@gpu-rental/client';

/** What can be wrong with a statement. */
export type Fault = 'whole' | 'balance' | 'rentals' | 'groups' | 'entries';

/** What came in, what went out, and what does not add up. */
export interface CheckedSums {
  readonly inCents: number;
  /** Negative. */
  readonly outCents: number;
  readonly netCents: number;
  readonly faults: readonly Fault[];
}

interface Sum {
  readonly entries: number;
  readonly amountCents: number;
}

const centsOf = (sums: readonly Sum[]): number => sums.reduce((all, { amountCents }) => all + amountCents, 0);
const entriesOf = (sums: readonly Sum[]): number => sums.reduce((all, { entries }) => all + entries, 0);

/** Adds a statement up by itself, in whole cents, and compares. */
export function checkSums(statement: Statement): CheckedSums {
  const { totals, rentals, groups } = statement;
  const netCents = centsOf(totals);
  const isRight: Readonly<Record<Fault, boolean>> = {
    whole: amountsOf(statement).every((cents) => Number.isSafeInteger(cents)),
    balance: statement.openingBalanceCents + netCents === statement.closingBalanceCents,
    rentals: rentals.every((each) => each.refundedCents - each.chargedCents === each.amountCents),
    groups: groups === undefined || centsOf(groups) === netCents,
    entries: groups === undefined || entriesOf(groups) === entriesOf(totals),
  };
  return {
    inCents: centsOf(totals.filter(({ amountCents }) => amountCents > 0)),
    outCents: centsOf(totals.filter(({ amountCents }) => amountCents < 0)),
    netCents,
    faults: (Object.keys(isRight) as Fault[]).filter((fault) => !isRight[fault]),
  };
}

function amountsOf({
  openingBalanceCents,
  closingBalanceCents,
  totals,
  rentals,
  groups = [],
}: Statement): number[] {
  return [
    openingBalanceCents,
    closingBalanceCents,
    ...totals.map(({ amountCents }) => amountCents),
    ...[...rentals, ...groups].flatMap((each) => [each.chargedCents, each.refundedCents, each.amountCents]),
  ];
}
