import { money, signedMoney } from '../format/money.js';
import { classes } from './classes.js';

interface MoneyProps {
  /** Whole cents. */
  readonly cents: number;
  /** With a plus before what comes in, and in its colour. */
  readonly isSigned?: boolean;
  readonly className?: string;
}

/** An amount of dollars, its digits of equal width. */
export function Money({ cents, isSigned = false, className }: MoneyProps) {
  return (
    <span className={classes('tabular whitespace-nowrap', isSigned && cents > 0 && 'text-good', className)}>
      {isSigned ? signedMoney(cents) : money(cents)}
    </span>
  );
}
