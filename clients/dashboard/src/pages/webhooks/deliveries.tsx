import type { Webhook } from '@gpu-rental/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { deliveriesQuery, type Delivery } from '../../data/webhooks.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { More } from '../../ui/more.js';
import { Segmented } from '../../ui/segmented.js';
import { EmptyState, Skeleton } from '../../ui/states.js';
import { DeliveryRow } from './delivery-row.js';
import { RedeliverDialog } from './redeliver-dialog.js';

const route = getRouteApi('/app/webhooks/$webhookId');

/** What became of each try, and a way to have events sent again. */
export function Deliveries({ hook }: { readonly hook: Webhook }) {
  const { tries } = route.useSearch();
  const navigate = route.useNavigate();
  const [afterSeq, setAfterSeq] = useState<number>();
  const isEnabled = hook.state === 'enabled';
  return (
    <Card
      title={t.deliveries}
      isFlush
      aside={
        <div className="flex flex-wrap items-center gap-2">
          <Segmented
            label={t.whichTries}
            value={tries ?? 'all'}
            options={[
              { value: 'all', label: t.allTries },
              { value: 'failed', label: t.failedTries },
            ]}
            onChange={(which) =>
              void navigate({ search: which === 'failed' ? { tries: which } : {}, replace: true })
            }
          />
          {isEnabled && (
            <Button size="small" onClick={() => setAfterSeq(hook.deliveredSeq)}>
              {t.redeliver}
            </Button>
          )}
        </div>
      }
    >
      <Tries hook={hook} onlyFailed={tries === 'failed'} {...(isEnabled && { onRedeliver: setAfterSeq })} />
      {afterSeq !== undefined && (
        <RedeliverDialog hook={hook} afterSeq={afterSeq} onClose={() => setAfterSeq(undefined)} />
      )}
    </Card>
  );
}

interface TriesProps {
  readonly hook: Webhook;
  readonly onlyFailed: boolean;
  readonly onRedeliver?: (afterSeq: number) => void;
}

function Tries({ hook, onlyFailed, onRedeliver }: TriesProps) {
  const pages = useInfiniteQuery(deliveriesQuery(hook.id));
  if (pages.error && !pages.data) return <More pages={pages} isFoot />;
  if (!pages.data) return <Waiting />;
  const all = pages.data.pages.flatMap(({ deliveries }) => deliveries);
  const shown = onlyFailed ? all.filter(({ outcome }) => outcome !== 'delivered') : all;
  return (
    <>
      {onlyFailed && all.length > 0 && (
        <p role="status" className="border-b border-line px-4 py-2 text-[13px] text-muted">
          {shown.length === 0 ? t.noFailedOf(all.length) : t.failedOf(shown.length, all.length)}
        </p>
      )}
      {shown.length === 0 ? (
        <NoTries isFiltered={onlyFailed && all.length > 0} />
      ) : (
        <Rows deliveries={shown} onRedeliver={onRedeliver} />
      )}
      <More pages={pages} isFoot />
    </>
  );
}

function Waiting() {
  return (
    <div className="p-4">
      <Skeleton className="h-40 w-full" />
    </div>
  );
}

function NoTries({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title={t.noFailed} />;
  return <EmptyState title={t.noTries}>{t.noTriesText}</EmptyState>;
}

interface RowsProps {
  readonly deliveries: readonly Delivery[];
  readonly onRedeliver: ((afterSeq: number) => void) | undefined;
}

function Rows({ deliveries, onRedeliver }: RowsProps) {
  return (
    <ul className="divide-y divide-line">
      {deliveries.map((delivery) => (
        <DeliveryRow key={delivery.id} delivery={delivery} onRedeliver={onRedeliver} />
      ))}
    </ul>
  );
}
