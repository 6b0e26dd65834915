import { Link } from '@tanstack/react-router';
import type { WishBefore } from '../../data/use-wish-before.js';
import { rentTexts } from '../../texts/rent.js';
import { Asking } from '../../ui/asking.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';

const t = rentTexts.before;

interface RentalBeforeProps {
  readonly before: WishBefore<'rent'>;
}

/** What became of a create whose answer was never seen: its page was left, loaded anew, or broke. */
export function RentalBefore({ before: { told, isWaiting, error, retry, dismiss } }: RentalBeforeProps) {
  if (error) return <ErrorNote error={error} onRetry={retry} />;
  if (!told) return isWaiting ? <Asking label={t.asking} /> : null;
  const { wish, made, state } = told;
  const { machine } = wish.body;
  if (state === 'open') {
    return (
      <Callout role="status" tone="info" title={t.openTitle(machine)}>
        {t.open}
      </Callout>
    );
  }
  const done = (
    <Button size="small" onClick={dismiss}>
      {t.done}
    </Button>
  );
  if (!made) {
    return (
      <Callout role="status" tone="neutral" title={t.notTitle(machine)} actions={done}>
        {t.not}
      </Callout>
    );
  }
  return (
    <Callout
      role="status"
      tone="good"
      title={t.rentedTitle(machine)}
      actions={
        <>
          <Link
            to="/app/rentals/$rentalId"
            params={{ rentalId: made.id }}
            className={buttonClasses('primary', 'small')}
          >
            {t.look}
          </Link>
          {done}
        </>
      }
    >
      {t.rented}
    </Callout>
  );
}
