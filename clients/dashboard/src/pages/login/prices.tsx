import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { publicPricesQuery } from '../../data/public-prices.js';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { loginTexts } from '../../texts/login.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';

interface PricesProps {
  /** The family that somebody wants already. */
  readonly wanted: string | undefined;
  readonly onWant: () => void;
}

/** What can be rented and from which price, where the service tells that before the sign-in. Each leads through it. */
export function Prices({ wanted, onWant }: PricesProps) {
  const { data = [] } = useQuery(publicPricesQuery);
  const offered = data.flatMap(({ family, fromPricePerHourCents: cents }) =>
    cents === null ? [] : [{ family, cents }],
  );
  if (offered.length === 0) return null;
  return (
    <Card title={loginTexts.prices} isFlush className="w-full">
      <ul className="max-h-112 divide-y divide-line overflow-y-auto">
        {offered
          .toSorted((a, b) => a.cents - b.cents)
          .map(({ family, cents }) => (
            <li key={family}>
              <Link
                to="/login"
                search={{ returnTo: `/app/rent/${family}` }}
                replace
                resetScroll={false}
                aria-current={family === wanted || undefined}
                onClick={onWant}
                className={classes(
                  'flex min-h-11 items-center justify-between gap-4 px-4 py-2 hover:bg-sunken focus-visible:-outline-offset-2',
                  family === wanted && 'bg-accent-soft',
                )}
              >
                <span className="font-medium">{familyName(family)}</span>
                <span className="text-[13px] tabular text-muted">{loginTexts.fromPrice(money(cents))}</span>
              </Link>
            </li>
          ))}
      </ul>
    </Card>
  );
}
