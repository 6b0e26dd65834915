import type { Rental } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { ago, span } from '../../format/time.js';
import { useServiceNow } from '../../live/service-clock.js';
import { homeTexts } from '../../texts/home.js';
import { rentalTexts } from '../../texts/rentals.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Money } from '../../ui/money.js';
import { EmptyState } from '../../ui/states.js';
import { phaseName } from '../rentals/phase-steps.js';
import { rentalTitle } from '../rentals/matching.js';
import { StatusBadge } from '../rentals/rental-badges.js';
import { useSsh } from '../rentals/use-ssh.js';
import { billedSeconds, useCost } from '../rentals/use-cost.js';

const t = homeTexts.machines;

/** The machines that there are now: how far they are, how to enter them, and what they have cost. */
export function Machines({ rentals }: { readonly rentals: readonly Rental[] }) {
  return (
    <Card
      title={t.title}
      isFlush
      aside={
        <Link to="/app/rentals" className="text-[13px] text-accent hover:underline">
          {t.all}
        </Link>
      }
    >
      {rentals.length === 0 && (
        <EmptyState
          title={t.none}
          actions={
            <Link to="/app/rent" className={buttonClasses('secondary', 'small')}>
              {homeTexts.rent}
            </Link>
          }
        >
          {t.noneText}
        </EmptyState>
      )}
      {rentals.length > 0 && (
        <ul className="divide-y divide-line">
          {rentals.map((rental) => (
            <Machine key={rental.id} rental={rental} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Machine({ rental }: { readonly rental: Rental }) {
  const { chargedCents } = useCost(rental);
  const { command } = useSsh(rental);
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-0">
        <div className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
          <Link
            to="/app/rentals/$rentalId"
            params={{ rentalId: rental.id }}
            className="min-w-0 font-semibold break-words hover:underline"
          >
            {rentalTitle(rental)}
          </Link>
          <StatusBadge status={rental.status} />
        </div>
        <p className="mt-0.5 text-[13px] break-words text-muted tabular">
          <Facts rental={rental} />
        </p>
      </div>
      <div className="text-right">
        <span className="sr-only">{t.soFar}</span>
        <Money cents={chargedCents} className="text-base font-semibold" />
        <p className="text-[13px] text-muted tabular">{t.rate(money(rental.pricePerHourCents))}</p>
      </div>
      {command !== undefined && rental.status === 'running' && (
        <div className="col-span-2 flex items-center rounded-md bg-sunken pl-3">
          <code className="min-w-0 flex-1 py-1.5 font-mono text-[13px] break-all">{command}</code>
          <CopyButton text={command} label={t.copy} />
        </div>
      )}
    </li>
  );
}

function Facts({ rental }: { readonly rental: Rental }) {
  const now = useServiceNow();
  const { name, gpuCount, family, region } = rental;
  const ran = billedSeconds(rental, now);
  const facts = [
    name !== null && rentalTexts.machine(gpuCount, familyName(family)),
    region,
    ran !== undefined && t.runs(span(ran)),
    ...phaseOf(rental, now),
  ].filter((fact) => fact !== false);
  return <>{facts.join(t.separator)}</>;
}

/** How far a machine is that is still being got. */
function phaseOf({ status, phase, phaseSince, attempt, expectedReadyAt }: Rental, nowMs: number): string[] {
  if (status !== 'provisioning' || phase === null || phaseSince === null) return [];
  const sinceSeconds = (nowMs - Date.parse(phaseSince)) / 1_000;
  return [
    t.phase(phaseName(phase), span(sinceSeconds)),
    ...(attempt !== null && attempt > 1 ? [t.attempt(attempt)] : []),
    ...(expectedReadyAt === null ? [] : [t.ready(ago(expectedReadyAt, nowMs))]),
  ];
}
