import { type ChangeRental, type Rental, worstCaseCents } from '@gpu-rental/client';
import { fieldError } from '../../../data/errors.js';
import { decimal, money, parseMoney } from '../../../format/money.js';
import { useServiceNow } from '../../../live/service-clock.js';
import { limitFormTexts } from '../../../texts/limit-form.js';
import { rentalTexts } from '../../../texts/rentals.js';
import { Button } from '../../../ui/button.js';
import { Field, Input } from '../../../ui/field.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { useFields } from '../../../ui/use-fields.js';
import { ChangeFailure } from './change-failure.js';
import { IdleFields } from '../idle-fields.js';
import { guardChangeOf, idleMinutesOf, isIgnoringSessions } from '../idle-guard.js';
import { isReached } from '../cost-preview.js';
import { fromLocalField, toLocalField } from '../local-time.js';
import { useChange } from './use-change.js';
import { useCost } from '../use-cost.js';

const texts = limitFormTexts;
const HOUR_MS = 3_600_000;
const extensions = [1, 4, 24] as const;

interface LimitsDialogProps {
  readonly rental: Rental;
  readonly onClose: () => void;
}

/** Changes until when a machine runs, and what it may cost. */
export function LimitsDialog({ rental, onClose }: LimitsDialogProps) {
  const { fields, change: type } = useFields(fieldsOf(rental));
  const now = useServiceNow();
  const change = useChange(rental.id, texts.saved, onClose);
  const asked = readLimits(rental, fields);
  const minutes = idleMinutesOf(fields.idle);
  const isStopWrong = asked.autoStopAt === undefined;
  const isSpendWrong = asked.maxSpendCents === undefined;
  return (
    <FormDialog
      onClose={onClose}
      title={rentalTexts.limits.change}
      submit={texts.save}
      isBusy={change.isPending}
      isDisabled={isStopWrong || isSpendWrong || minutes === undefined}
      onSubmit={() =>
        change.send({
          ...changesOf(rental, asked),
          ...guardChangeOf(rental, minutes, fields.ignoresSessions),
        })
      }
    >
      <Field
        label={texts.stopField}
        hint={rental.runningAt === null ? texts.stopHintEarly : texts.stopHint}
        error={isStopWrong ? texts.stopError : fieldError(change.error, 'autoStopAt')}
      >
        {(ids) => (
          <Input
            {...ids}
            type="datetime-local"
            value={fields.stopAt}
            onChange={(event) => type({ stopAt: event.target.value })}
          />
        )}
      </Field>
      <Extensions
        onExtend={(hours) => {
          const from = fromLocalField(fields.stopAt);
          const fromMs = Math.max(now, from === undefined ? 0 : Date.parse(from));
          type({ stopAt: toLocalField(new Date(fromMs + hours * HOUR_MS).toISOString()) });
        }}
      />
      <Field
        label={texts.spendField}
        hint={texts.spendHint}
        error={isSpendWrong ? texts.spendError : fieldError(change.error, 'maxSpendCents')}
      >
        {(ids) => (
          <Input
            {...ids}
            inputMode="decimal"
            autoComplete="off"
            placeholder={rentalTexts.limits.none}
            value={fields.spend}
            onChange={(event) => type({ spend: event.target.value })}
          />
        )}
      </Field>
      <IdleFields
        input={{ value: fields.idle, onChange: (event) => type({ idle: event.target.value }) }}
        ignoresSessions={fields.ignoresSessions}
        onIgnoreSessions={(ignoresSessions) => type({ ignoresSessions })}
        error={change.error}
      />
      {!isStopWrong && !isSpendWrong && <Preview rental={rental} asked={asked} />}
      <ChangeFailure error={change.error} />
    </FormDialog>
  );
}

interface LimitFields {
  readonly stopAt: string;
  readonly spend: string;
  readonly idle: string;
  readonly ignoresSessions: boolean;
}

/** The limits of a rental as they are typed. */
function fieldsOf(rental: Rental): LimitFields {
  const { autoStopAt, maxSpendCents, stopWhenIdleMinutes } = rental;
  return {
    stopAt: autoStopAt === null ? '' : toLocalField(autoStopAt),
    spend: maxSpendCents === null ? '' : decimal(maxSpendCents),
    idle: stopWhenIdleMinutes?.toString() ?? '',
    ignoresSessions: isIgnoringSessions(rental),
  };
}

function Extensions({ onExtend }: { readonly onExtend: (hours: number) => void }) {
  return (
    <div className="-mt-1 flex flex-wrap items-center gap-2">
      <span className="text-[13px] text-muted">{texts.extend}</span>
      {extensions.map((hours) => (
        <Button key={hours} size="small" onClick={() => onExtend(hours)}>
          {texts.hours(hours)}
        </Button>
      ))}
    </div>
  );
}

/** What is asked for; undefined where what was typed is nothing. */
interface AskedLimits {
  readonly autoStopAt: string | null | undefined;
  readonly maxSpendCents: number | null | undefined;
}

function readLimits(rental: Rental, { stopAt, spend }: LimitFields): AskedLimits {
  const cents = parseMoney(spend);
  const kept = rental.autoStopAt;
  return {
    // The field knows whole minutes: what was not touched stays to the second.
    autoStopAt:
      stopAt === '' ? null : kept !== null && toLocalField(kept) === stopAt ? kept : fromLocalField(stopAt),
    maxSpendCents: spend.trim() === '' ? null : cents === 0 ? undefined : cents,
  };
}

function changesOf(rental: Rental, { autoStopAt, maxSpendCents }: AskedLimits): ChangeRental {
  return {
    ...(autoStopAt !== undefined && autoStopAt !== rental.autoStopAt && { autoStopAt }),
    ...(maxSpendCents !== undefined && maxSpendCents !== rental.maxSpendCents && { maxSpendCents }),
  };
}

/** What the limits would come to, before they are sent. */
function Preview({ rental, asked }: { readonly rental: Rental; readonly asked: AskedLimits }) {
  const now = useServiceNow();
  const { chargedCents } = useCost(rental);
  const { autoStopAt = null, maxSpendCents = null } = asked;
  const limits = { ...rental, autoStopAt, maxSpendCents };
  if (isReached(limits, chargedCents, now)) return <p className="font-medium text-warn">{texts.endsNow}</p>;
  const worst = worstCaseCents(limits);
  // Before it runs, a time limit has no cost yet, and one in hours may stand that nobody tells.
  if (worst === null && rental.runningAt === null) return null;
  return <p className="text-muted">{worst === null ? texts.worstNone : texts.worst(money(worst))}</p>;
}
