import { lookUp, wordOf } from '@gpu-rental/client';
import type { Delivery } from '../../data/webhooks.js';
import { number } from '../../format/number.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Time } from '../../ui/time.js';

const tones = { delivered: 'good', failed: 'warn', given_up: 'bad' } as const;

interface DeliveryRowProps {
  readonly delivery: Delivery;
  readonly onRedeliver: ((afterSeq: number) => void) | undefined;
}

/** One try: which event, what came of it, how long it took. */
export function DeliveryRow({ delivery, onRedeliver }: DeliveryRowProps) {
  const { seq, type, attempt, outcome, durationMs, at } = delivery;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 px-4 py-2.5 md:grid-cols-[minmax(0,5fr)_minmax(0,6fr)_8.5rem_8.5rem]">
      <p className="min-w-0">
        <span className="font-mono text-[13px] break-all">{type}</span>
        {seq !== null && <span className="ml-2 text-[13px] text-muted tabular">{t.eventNo(seq)}</span>}
      </p>
      <p className="col-span-2 row-start-2 flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-[13px] md:col-span-1 md:row-start-auto">
        <Badge tone={lookUp(tones, outcome) ?? 'neutral'}>{wordOf(t.outcomes, outcome)}</Badge>
        <span className="text-muted">
          {[answerOf(delivery), t.attempt(attempt), lookUp(t.outcomeHints, outcome) ?? '']
            .filter((part) => part !== '')
            .join(' · ')}
        </span>
      </p>
      <p className="col-start-1 text-[13px] text-muted tabular md:col-auto md:text-right">
        <Time at={at} />
        <span className="block max-md:ml-2 max-md:inline">{t.duration(number(durationMs))}</span>
      </p>
      {seq !== null && onRedeliver && (
        <Button
          size="small"
          className="justify-self-end"
          aria-label={t.redeliverFrom(seq)}
          onClick={() => onRedeliver(seq - 1)}
        >
          {t.redeliver}
        </Button>
      )}
    </li>
  );
}

/** The status of the answer, or why there was none. */
function answerOf({ httpStatus, fault }: Delivery): string {
  const why = fault === null ? undefined : Object.entries(t.faults).find(([name]) => name === fault)?.[1];
  return [httpStatus === null ? '' : t.status(httpStatus), why ?? fault ?? '']
    .filter((part) => part !== '')
    .join(', ');
}
