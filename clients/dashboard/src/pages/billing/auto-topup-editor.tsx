import type { AutoTopup } from '@gpu-rental/client';
import { useState, type SubmitEvent } from 'react';
import { fieldError } from '../../data/errors.js';
import { money } from '../../format/money.js';
import { billingTexts } from '../../texts/billing.js';
import { Button } from '../../ui/button.js';
import { Field } from '../../ui/field.js';
import { MoneyInput } from '../../ui/money-input.js';
import { useFields } from '../../ui/use-fields.js';
import type { Limits } from './amounts.js';
import { AutoTopupError } from './auto-topup-error.js';
import { autoTopupLimits, fieldsOf, readFields, type AutoTopupFields } from './auto-topup-form.js';
import type { SaveAutoTopup } from './use-save-auto-topup.js';

const t = billingTexts.auto;

interface AutoTopupEditorProps {
  readonly settings: AutoTopup;
  readonly save: SaveAutoTopup;
  readonly onClose: () => void;
}

/** The fields of automatic top-ups: saving them switches it on. */
export function AutoTopupEditor({ settings, save, onClose }: AutoTopupEditorProps) {
  const { fields, change: type } = useFields(fieldsOf(settings));
  const [isChecked, setChecked] = useState(false);
  const read = readFields(fields);
  const faults = isChecked && !('enabled' in read) ? read : {};
  const change = (name: keyof AutoTopupFields) => (value: string) => type({ [name]: value });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setChecked(true);
    if ('enabled' in read) save.mutate(read, { onSuccess: onClose });
  };
  return (
    <form noValidate className="flex flex-col gap-4" onSubmit={submit}>
      <Amount
        label={t.threshold}
        hint={hintOf(t.thresholdHint, autoTopupLimits.threshold)}
        error={faults.threshold ?? fieldError(save.error, 'thresholdCents')}
        value={fields.threshold}
        onChange={change('threshold')}
      />
      <Amount
        label={t.amount}
        hint={hintOf(t.amountHint, autoTopupLimits.amount)}
        error={faults.amount ?? fieldError(save.error, 'topupAmountCents')}
        value={fields.amount}
        onChange={change('amount')}
      />
      <Amount
        label={t.cap}
        hint={t.capHint}
        error={faults.cap ?? fieldError(save.error, 'dailyCapCents')}
        value={fields.cap}
        onChange={change('cap')}
      />
      {save.isError && <AutoTopupError error={save.error} />}
      <div className="flex flex-wrap gap-2">
        <Button look="primary" type="submit" isBusy={save.isPending}>
          {settings.enabled ? t.save : t.switchOn}
        </Button>
        <Button look="quiet" onClick={onClose}>
          {t.cancel}
        </Button>
      </div>
    </form>
  );
}

function hintOf(text: (least: string, most: string) => string, { minCents, maxCents }: Limits): string {
  return text(money(minCents), money(maxCents));
}

interface AmountProps {
  readonly label: string;
  readonly hint: string;
  readonly error: string | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Amount({ label, hint, error, value, onChange }: AmountProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => <MoneyInput {...ids} value={value} onChange={({ target }) => onChange(target.value)} />}
    </Field>
  );
}
