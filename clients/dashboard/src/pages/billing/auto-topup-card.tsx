import type { AutoTopup } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { autoTopupQuery } from '../../data/auto-topup.js';
import { cardQuery, savedCard } from '../../data/card.js';
import { money } from '../../format/money.js';
import { timeOfDay } from '../../format/time.js';
import { serviceTimeAt } from '../../live/service-clock.js';
import { billingTexts } from '../../texts/billing.js';
import { Badge, Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { AutoTopupEditor } from './auto-topup-editor.js';
import { AutoTopupError } from './auto-topup-error.js';
import { warningOf } from './auto-topup-form.js';
import { useSaveAutoTopup } from './use-save-auto-topup.js';
import { SupportLink } from '../../ui/support-link.js';

const t = billingTexts.auto;

/** Whether the card is charged by itself, when, and how to change that. */
export function AutoTopupCard() {
  const { data: settings, error, refetch, dataUpdatedAt } = useQuery(autoTopupQuery);
  const card = useQuery(cardQuery);
  const isReady = settings !== undefined && !card.isPending;
  return (
    <Card title={t.title} aside={settings && <State settings={settings} />}>
      {error && settings === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!isReady && !error && <Skeleton className="h-24 w-full" />}
      {isReady && (
        <AutoTopupBody
          settings={settings}
          lacksCard={card.data !== undefined && savedCard(card.data) === undefined}
          readAtMs={serviceTimeAt(dataUpdatedAt)}
        />
      )}
    </Card>
  );
}

function State({ settings: { enabled, disabledReason } }: { readonly settings: AutoTopup }) {
  if (enabled) return <Badge tone="good">{t.on}</Badge>;
  return disabledReason === null ? <Badge>{t.off}</Badge> : <Badge tone="warn">{t.stopped}</Badge>;
}

interface AutoTopupBodyProps {
  readonly settings: AutoTopup;
  /** Known to have none: a card that could not be read may be there. */
  readonly lacksCard: boolean;
  /** When the settings were read, by the service's clock. */
  readonly readAtMs: number;
}

function AutoTopupBody({ settings, lacksCard, readAtMs }: AutoTopupBodyProps) {
  const [isEditing, setEditing] = useState(false);
  const save = useSaveAutoTopup();
  return (
    <div className="flex flex-col gap-3">
      {settings.disabledReason !== null && <Stopped reason={settings.disabledReason} />}
      {settings.enabled ? (
        <Rule settings={settings} readAtMs={readAtMs} />
      ) : (
        <p className="text-muted">{t.why}</p>
      )}
      {save.data?.warnings.map((warning) => (
        <Callout key={warning} tone="warn" title={warningOf(warning)} />
      ))}
      {isEditing && <AutoTopupEditor settings={settings} save={save} onClose={() => setEditing(false)} />}
      {!isEditing && (
        <>
          {save.isError && <AutoTopupError error={save.error} />}
          <div className="flex flex-wrap items-center gap-2">
            {settings.enabled && (
              <Button size="small" isBusy={save.isPending} onClick={() => save.mutate({ enabled: false })}>
                {t.switchOff}
              </Button>
            )}
            <Opener isOn={settings.enabled} lacksCard={lacksCard} onOpen={() => setEditing(true)} />
          </div>
        </>
      )}
    </div>
  );
}

interface OpenerProps {
  readonly isOn: boolean;
  readonly lacksCard: boolean;
  readonly onOpen: () => void;
}

function Opener({ isOn, lacksCard, onOpen }: OpenerProps) {
  if (lacksCard && !isOn) {
    return (
      <>
        <Button size="small" disabled>
          {t.switchOn}
        </Button>
        <a href="/app/card" className="text-[13px] underline">
          {t.needsCard}
        </a>
      </>
    );
  }
  return (
    <Button size="small" onClick={onOpen}>
      {isOn ? t.edit : t.switchOn}
    </Button>
  );
}

function Stopped({ reason }: { readonly reason: NonNullable<AutoTopup['disabledReason']> }) {
  const known: Readonly<Record<string, string>> = t.reasons;
  return (
    <Callout tone="warn" title={t.stoppedTitle}>
      {known[reason] ?? t.reasonUnknown}{' '}
      {(reason === 'charges_held' || known[reason] === undefined) && <SupportLink />}
    </Callout>
  );
}

function Rule({ settings, readAtMs }: Pick<AutoTopupBodyProps, 'settings' | 'readAtMs'>) {
  const { topupAmountCents, thresholdCents, dailyCapCents, nextAttemptAt } = settings;
  const isWaiting = nextAttemptAt !== null && Date.parse(nextAttemptAt) > readAtMs;
  return (
    <div>
      <p>{t.rule(money(topupAmountCents ?? 0), money(thresholdCents ?? 0))}</p>
      <p className="text-muted">{dailyCapCents === null ? t.uncapped : t.capped(money(dailyCapCents))}</p>
      {isWaiting && <p className="mt-1 text-muted">{t.next(timeOfDay(nextAttemptAt))}</p>}
    </div>
  );
}
