import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { balanceQuery } from '../../data/wallet.js';
import { shortTime, span, timeOfDay } from '../../format/time.js';
import { useBalance, useConnection, useLostAt, type CurrentBalance } from '../../live/hooks.js';
import { AHEAD_MS } from '../../live/interpolate.js';
import { useNow } from '../../live/now.js';
import { serviceTimeAt } from '../../live/service-clock.js';
import { homeTexts } from '../../texts/home.js';
import { Card, Stat } from '../../ui/card.js';
import { Money } from '../../ui/money.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';

const t = homeTexts.wallet;

/** The money at a glance: what can be spent, what is held, what goes an hour, and how long it lasts. */
export function WalletTiles({ running }: { readonly running: number }) {
  const { error, refetch } = useQuery(balanceQuery);
  const balance = useBalance();
  if (error !== null && balance === undefined)
    return <ErrorNote error={error} onRetry={() => void refetch()} />;
  const burnCents = balance?.burnPerHourCents ?? 0;
  return (
    <Card>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-5 lg:grid-cols-4">
        <Stat
          label={t.available}
          value={known(balance && <Money cents={balance.availableCents} />)}
          note={<Freshness balance={balance} />}
        />
        <Stat
          label={t.held}
          value={known(balance && <Money cents={balance.reservedCents} />)}
          note={t.heldNote}
        />
        <Stat
          label={t.burn}
          value={known(balance && <Money cents={burnCents} />)}
          note={burnCents > 0 ? t.burnNote(running) : t.idle}
        />
        <Runway balance={balance} />
      </dl>
    </Card>
  );
}

const known = (value: ReactNode): ReactNode => value ?? <Skeleton className="h-7 w-24" />;

/** Figures that are not live say of when they are. */
function Freshness({ balance }: { readonly balance: CurrentBalance | undefined }) {
  const connection = useConnection();
  if (connection === 'live' || balance === undefined) return <>{t.availableNote}</>;
  return <>{t.asOf(timeOfDay(balance.readAt))}</>;
}

function Runway({ balance }: { readonly balance: CurrentBalance | undefined }) {
  const now = useNow();
  const lostAtMs = useLostAt();
  const left = balance && secondsLeft(balance, Math.min(now, (lostAtMs ?? Infinity) + AHEAD_MS));
  if (left === null) return <Stat label={t.lasts} value={t.lastsForever} note={t.lastsNote} />;
  return (
    <Stat
      label={t.lasts}
      value={known(left === undefined ? undefined : span(left))}
      note={
        left === undefined
          ? ' '
          : t.lastsUntil(shortTime(new Date(serviceTimeAt(now) + left * 1_000).toISOString()))
      }
    />
  );
}

/** How long the money lasts by now; null when nothing burns. */
function secondsLeft({ runwaySeconds, receivedAtMs }: CurrentBalance, nowMs: number): number | null {
  if (runwaySeconds === null) return null;
  return Math.max(0, runwaySeconds - Math.floor(Math.max(0, nowMs - receivedAtMs) / 1_000));
}
