import { Link } from '@tanstack/react-router';
import { money } from '../format/money.js';
import { useBalance } from '../live/hooks.js';
import { shellTexts } from '../texts/shell.js';
import { classes } from '../ui/classes.js';
import { Money } from '../ui/money.js';
import { Skeleton } from '../ui/states.js';

const { wallet } = shellTexts;

interface WalletLineProps {
  /** There is room for the name, and for what goes of it. */
  readonly isWide?: boolean;
  readonly className?: string;
}

/** The money that can be spent, and what goes of it: on every page, and the way to the wallet. */
export function WalletLine({ isWide = false, className }: WalletLineProps) {
  const balance = useBalance();
  return (
    <Link
      to="/app/billing"
      className={classes('flex items-baseline justify-between gap-2 rounded-md hover:bg-sunken', className)}
    >
      <span className={isWide ? 'text-[13px] text-muted' : 'sr-only'}>{wallet.available}</span>
      <span className="flex flex-col items-end">
        {balance === undefined ? (
          <Skeleton className="h-5 w-20" />
        ) : (
          <Money cents={balance.availableCents} className="font-semibold" />
        )}
        {isWide && (
          <span className="text-xs text-muted tabular">
            {balance ? burnOf(balance.burnPerHourCents) : '\u00a0'}
          </span>
        )}
      </span>
    </Link>
  );
}

const burnOf = (cents: number): string => (cents > 0 ? wallet.burn(money(-cents)) : wallet.idle);
