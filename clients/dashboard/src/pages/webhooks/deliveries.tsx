import type { Webhook } from '@gpu-rental/client';
import { useInfiniteQuery, type InfiniteData, type UseInfiniteQueryResult } from '@tanstack/react-query';
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
  const pages = useInfiniteQuery(deliveriesQuery(hook.id));
  const [asked, setAsked] = useState<Asked>();
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
            <Button size="small" onClick={() => setAsked({ afterSeq: beforeMissed(triesOf(pages.data)) })}>
              {t.redeliver}
            </Button>
          )}
        </div>
      }
    >
      <Tries
        pages={pages}
        onlyFailed={tries === 'failed'}
        {...(isEnabled && { onRedeliver: (afterSeq) => setAsked({ afterSeq }) })}
      />
      {asked && <RedeliverDialog hook={hook} afterSeq={asked.afterSeq} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

/** What is to be sent again: after which event, where that is known. */
interface Asked {
  readonly afterSeq: number | undefined;
}

type Pages = UseInfiniteQueryResult<InfiniteData<{ readonly deliveries: readonly Delivery[] }>>;

function triesOf(data: Pages['data']): readonly Delivery[] {
  return data?.pages.flatMap(({ deliveries }) => deliveries) ?? [];
}

/** The number before the first event of these tries that never got through; undefined where all of them did. */
function beforeMissed(tries: readonly Delivery[]): number | undefined {
  const taken = new Set(tries.filter(({ outcome }) => outcome === 'delivered').map(({ seq }) => seq));
  const missed = tries.flatMap(({ seq }) => (seq === null || taken.has(seq) ? [] : [seq]));
  return missed.length === 0 ? undefined : Math.min(...missed) - 1;
}

interface TriesProps {
  readonly pages: Pages;
  readonly onlyFailed: boolean;
  readonly onRedeliver?: (afterSeq: number) => void;
}

function Tries({ pages, onlyFailed, onRedeliver }: TriesProps) {
  if (pages.error && !pages.data) return <More pages={pages} isFoot />;
  if (!pages.data) return <Waiting />;
  const all = triesOf(pages.data);
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
