import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { Field, Textarea } from '../../ui/field.js';
import { MoneyInput } from '../../ui/money-input.js';
import type { KeyFaults, KeyFields } from './form.js';

interface LimitFieldsProps {
  readonly fields: KeyFields;
  readonly faults: Pick<KeyFaults, 'cap' | 'cidrs'>;
  readonly onChange: (fields: KeyFields) => void;
}

/** How much a key may spend, and from where. */
export function LimitFields({ fields, faults, onChange }: LimitFieldsProps) {
  return (
    <>
      <Field label={t.cap} hint={t.capHint} error={faults.cap}>
        {(ids) => (
          <MoneyInput
            {...ids}
            name="cap"
            value={fields.cap}
            onChange={({ target }) => onChange({ ...fields, cap: target.value })}
          />
        )}
      </Field>
      <Field label={t.cidrs} hint={t.cidrsHint} error={faults.cidrs}>
        {(ids) => (
          <Textarea
            {...ids}
            name="cidrs"
            rows={2}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            value={fields.cidrs}
            onChange={({ target }) => onChange({ ...fields, cidrs: target.value })}
          />
        )}
      </Field>
    </>
  );
}
