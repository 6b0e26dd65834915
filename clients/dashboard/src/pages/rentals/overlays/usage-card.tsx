import type { Rental, Telemetry } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { telemetryQuery } from '../../../data/usage.js';
import { usageTexts as texts } from '../../../texts/usage.js';
import { Card } from '../../../ui/card.js';
import { ErrorNote, Skeleton } from '../../../ui/states.js';
import { UsageChart } from './usage-chart.js';

/** Its use is told a minute after it happened. */
const EVERY_MS = 60_000;

/** How busy a machine was in its last day. */
export function UsageCard({ rental }: { readonly rental: Rental }) {
  const { data, error, refetch } = useQuery({
    ...telemetryQuery(rental.id),
    refetchInterval: rental.status === 'running' && EVERY_MS,
  });
  return (
    <Card title={texts.title}>
      {rental.stopWhenIdleMinutes !== null && (
        <p className="mb-3 text-[13px] text-muted">{texts.guard(rental.stopWhenIdleMinutes)}</p>
      )}
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton className="h-48 w-full" />}
      {data && <Usage rental={rental} told={data} />}
    </Card>
  );
}

function Usage({ rental, told }: { readonly rental: Rental; readonly told: Telemetry }) {
  const last = told.points.findLast(({ gpuPercent }) => gpuPercent !== null);
  if (!last) return <p className="text-muted">{texts.none(rental.provider)}</p>;
  const facts = [
    [texts.latest, last.gpuPercent],
    [texts.busiest, last.busiestGpuPercent],
    [texts.cpu, last.cpuPercent],
    [texts.memory, last.memoryPercent],
  ] as const;
  return (
    <>
      <dl className="mb-3 flex flex-wrap gap-x-6 gap-y-1 text-[13px] tabular">
        {facts.map(([label, value]) => (
          <div key={label} className="flex gap-2">
            <dt className="text-muted">{label}</dt>
            <dd>{texts.percent(value)}</dd>
          </div>
        ))}
      </dl>
      <UsageChart told={told} />
      <p className="mt-2 text-[13px] text-muted">
        {told.source === 'reporter' ? texts.toldByUs : texts.toldBy(rental.provider)}
      </p>
    </>
  );
}
