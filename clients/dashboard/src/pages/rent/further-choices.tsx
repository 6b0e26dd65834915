import { useEffect, useState, type ComponentProps } from 'react';
import { fieldError } from '../../data/errors.js';
import { decimal, decimalOf, parseMoney } from '../../format/money.js';
import { rentTexts } from '../../texts/rent.js';
import { Card } from '../../ui/card.js';
import { wordTexts } from '../../texts/words.js';
import { Field, Input } from '../../ui/field.js';
import { LabelEditor } from '../../ui/label-editor.js';
import { labelsOf, pairsOf, type LabelPair } from '../../ui/label-pairs.js';
import { useAfterPause, useTyped } from '../../ui/use-typed.js';
import { IdleFields } from '../rentals/idle-fields.js';
import { idleMinutesOf } from '../rentals/idle-guard.js';
import { KeptName } from '../rentals/word-fields.js';
import { hoursOf } from './hours.js';
import type { FamilySearch } from './search.js';
import { UseChoice } from './use-choice.js';

export interface ChoiceProps {
  readonly search: FamilySearch;
  readonly onChange: (fields: FamilySearch | Readonly<Record<string, unknown>>) => void;
  /** What the service said of the choices. */
  readonly error: unknown;
  /** Is told whether something typed is not right, and so is no part of the quote. */
  readonly onFault: OnFault;
}

export type OnFault = (part: 'limits' | 'idle' | 'labels' | 'software', isWrong: boolean) => void;

/** For how long it may run, and what it may cost. */
export function LimitChoice({
  search,
  onChange,
  error,
  onFault,
  toldBy,
}: ChoiceProps & Pick<ComponentProps<typeof UseChoice>, 'toldBy'>) {
  const texts = rentTexts.limits;
  const hours = useTyped(
    search.hours?.toString() ?? '',
    (text) => {
      if (text.trim() === '' || hoursOf(text) !== undefined) onChange({ hours: hoursOf(text) });
    },
    (text) => hoursOf(text)?.toString() ?? '',
  );
  const spend = useTyped(
    search.spend === undefined ? '' : decimal(search.spend),
    (text) => {
      if (text.trim() === '' || isAmount(text)) onChange({ spend: parseMoney(text) });
    },
    decimalOf,
  );
  const isHoursWrong = hours.value.trim() !== '' && hoursOf(hours.value) === undefined;
  const isSpendWrong = spend.value.trim() !== '' && !isAmount(spend.value);
  useEffect(() => onFault('limits', isHoursWrong || isSpendWrong), [onFault, isHoursWrong, isSpendWrong]);
  return (
    <Card title={texts.title}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label={texts.hours}
          hint={texts.hoursHint}
          error={isHoursWrong ? texts.hoursError : fieldError(error, 'autoStopAfterHours')}
        >
          {(ids) => (
            <Input {...ids} {...hours} inputMode="decimal" placeholder={texts.none} autoComplete="off" />
          )}
        </Field>
        <Field
          label={texts.spend}
          hint={texts.spendHint}
          error={isSpendWrong ? texts.spendError : fieldError(error, 'maxSpendCents')}
        >
          {(ids) => (
            <Input {...ids} {...spend} inputMode="decimal" placeholder={texts.none} autoComplete="off" />
          )}
        </Field>
        <div className="flex flex-col gap-2.5 sm:col-span-2">
          <IdleChoice {...{ search, onChange, error, onFault }} />
          <UseChoice {...{ search, onChange, error, toldBy }} />
        </div>
      </div>
    </Card>
  );
}

/** Whether it stops when nobody uses it. */
function IdleChoice({ search, onChange, error, onFault }: ChoiceProps) {
  const minutes = useTyped(
    search.idle?.toString() ?? '',
    (text) => {
      const idle = idleMinutesOf(text);
      if (idle !== undefined) onChange({ idle: idle ?? undefined });
    },
    (text) => idleMinutesOf(text)?.toString() ?? '',
  );
  const isWrong = idleMinutesOf(minutes.value) === undefined;
  useEffect(() => onFault('idle', isWrong), [onFault, isWrong]);
  return (
    <IdleFields
      input={minutes}
      ignoresSessions={search.ignoreSessions === true}
      onIgnoreSessions={(ignores) => onChange({ ignoreSessions: ignores || undefined })}
      error={error}
    />
  );
}

function isAmount(text: string): boolean {
  return (parseMoney(text) ?? 0) > 0;
}

/** What the renter calls it. */
export function NamingChoice({ search, onChange, error, onFault }: ChoiceProps) {
  const [pairs, setPairs] = useState(() => pairsOf(search.labels ?? {}));
  const [tellLabels, tellLabelsNow] = useAfterPause((next: readonly LabelPair[]) => {
    const labels = labelsOf(next);
    if (labels) onChange({ labels });
  });
  const areLabelsWrong = labelsOf(pairs) === undefined;
  useEffect(() => onFault('labels', areLabelsWrong), [onFault, areLabelsWrong]);
  return (
    <Card title={wordTexts.rentTitle}>
      <div className="flex flex-col gap-4">
        <KeptName name={search.name} onChange={onChange} error={error} />
        <LabelEditor
          pairs={pairs}
          onChange={(next) => {
            setPairs(next);
            tellLabels(next);
          }}
          onLeave={tellLabelsNow}
          error={fieldError(error, 'labels')}
        />
      </div>
    </Card>
  );
}
