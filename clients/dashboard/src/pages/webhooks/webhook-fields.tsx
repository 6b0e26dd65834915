import { eventTypeTexts, webhookTexts as t } from '../../texts/webhooks.js';
import { Checkbox, Field, Input } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { groupTypes, type ChosenType, type TypeGroup } from './types.js';

/** What of a webhook stands in fields. */
export interface WebhookForm {
  readonly url: string;
  readonly description: string;
  readonly isAll: boolean;
  readonly types: readonly ChosenType[];
}

interface WebhookFieldsProps {
  readonly form: WebhookForm;
  readonly faults: Readonly<Record<'url' | 'description' | 'types', string | undefined>>;
  readonly onChange: (form: WebhookForm) => void;
}

export function WebhookFields({ form, faults, onChange }: WebhookFieldsProps) {
  return (
    <>
      <Field label={t.url} hint={t.urlHint} error={faults.url}>
        {(ids) => (
          <Input
            {...ids}
            name="url"
            type="url"
            required
            maxLength={2_048}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            value={form.url}
            onChange={({ target }) => onChange({ ...form, url: target.value })}
          />
        )}
      </Field>
      <Field label={t.description} hint={t.descriptionHint} error={faults.description}>
        {(ids) => (
          <Input
            {...ids}
            name="description"
            maxLength={200}
            autoComplete="off"
            value={form.description}
            onChange={({ target }) => onChange({ ...form, description: target.value })}
          />
        )}
      </Field>
      <Types form={form} fault={faults.types} onChange={onChange} />
    </>
  );
}

interface TypesProps {
  readonly form: WebhookForm;
  readonly fault: string | undefined;
  readonly onChange: (form: WebhookForm) => void;
}

const allTypes = Object.keys(eventTypeTexts) as readonly ChosenType[];

function Types({ form, fault, onChange }: TypesProps) {
  return (
    <div className="flex flex-col gap-3">
      <div>
        <p aria-hidden="true" className="mb-1.5 text-[13px] font-medium text-soft">
          {t.which}
        </p>
        <Segmented
          label={t.which}
          value={form.isAll ? 'all' : 'some'}
          options={[
            { value: 'all', label: t.all },
            { value: 'some', label: t.some },
          ]}
          onChange={(which) => onChange({ ...form, isAll: which === 'all' })}
        />
      </div>
      {form.isAll ? (
        <p className="text-[13px] text-muted">{t.allHint}</p>
      ) : (
        groupTypes(allTypes).map(([group, types]) => (
          <Group
            key={group}
            group={group}
            types={types}
            chosen={form.types}
            onChange={(chosen) => onChange({ ...form, types: chosen })}
          />
        ))
      )}
      {fault !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {fault}
        </p>
      )}
    </div>
  );
}

interface GroupProps {
  readonly group: TypeGroup;
  readonly types: readonly ChosenType[];
  readonly chosen: readonly ChosenType[];
  readonly onChange: (chosen: readonly ChosenType[]) => void;
}

/** The types of one group, with a box for all of them. */
function Group({ group, types, chosen, onChange }: GroupProps) {
  const count = types.filter((type) => chosen.includes(type)).length;
  const set = (some: readonly ChosenType[], isOn: boolean): void =>
    onChange(allTypes.filter((type) => (some.includes(type) ? isOn : chosen.includes(type))));
  return (
    <fieldset className="rounded-md border border-line px-3 py-2.5">
      <legend className="sr-only">{t.groups[group]}</legend>
      <Checkbox
        label={<span className="font-medium">{t.groups[group]}</span>}
        checked={count === types.length}
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && count < types.length;
        }}
        onChange={({ target }) => set(types, target.checked)}
      />
      <div className="mt-2 grid gap-2 pl-7 sm:grid-cols-2">
        {types.map((type) => (
          <Checkbox
            key={type}
            label={<span className="font-mono text-[13px] break-all">{type}</span>}
            hint={eventTypeTexts[type]}
            checked={chosen.includes(type)}
            onChange={({ target }) => set([type], target.checked)}
          />
        ))}
      </div>
    </fieldset>
  );
}
