import { isApiError, type ApiKeyScope } from '@gpu-rental/client';
import { useId, useState } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { useCreateApiKey } from '../../data/api-keys.js';
import { DAY_MS } from '../../format/months.js';
import { date } from '../../format/time.js';
import { serviceTimeAt, useServiceNow } from '../../live/service-clock.js';
import { apiKeyTexts as t, scopes as allScopes } from '../../texts/api-keys.js';
import { Callout } from '../../ui/badge.js';
import { Checkbox, Field, Select } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ErrorNote } from '../../ui/states.js';
import { CreatedApiKeyDialog } from './created-dialog.js';
import { capOf, cidrsOf, faultsOf, type KeyFaults } from './form.js';
import { NameField } from '../../ui/name-field.js';
import { LimitFields } from './key-fields.js';

const EXPIRY_DAYS = [7, 30, 90, 180, 365] as const;

/** Makes a key, and shows it once. */
export function CreateApiKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const { run, dialog } = useFreshProof();
  const create = useCreateApiKey(run);
  const [fields, setFields] = useState({ name: '', cap: '', cidrs: '' });
  const [scopes, setScopes] = useState<readonly ApiKeyScope[]>(['read', 'rentals']);
  const [isOwnOnly, setOwnOnly] = useState(false);
  const [days, setDays] = useState(90);
  const [own, setOwn] = useState<Partial<KeyFaults>>({});
  if (create.data) return <CreatedApiKeyDialog created={create.data} onClose={onClose} />;
  const submit = (): void => {
    const spendCapCents = capOf(fields.cap);
    setOwn({
      ...(scopes.length === 0 && { scopes: t.scopesMissing }),
      ...(spendCapCents === undefined && { cap: t.capFault }),
    });
    if (spendCapCents === undefined || scopes.length === 0) return;
    create.mutate({
      name: fields.name,
      scopes: [...scopes],
      ends: isOwnOnly && scopes.includes('rentals') ? 'own' : 'all',
      expiresAt: new Date(serviceTimeAt(Date.now()) + days * DAY_MS).toISOString(),
      spendCapCents,
      allowedCidrs: cidrsOf(fields.cidrs),
    });
  };
  const faults = { ...faultsOf(create.error), ...own };
  return (
    <FormDialog
      onClose={onClose}
      title={t.create}
      submit={t.create}
      onSubmit={submit}
      isBusy={create.isPending}
      beside={dialog}
    >
      <NameField
        label={t.name}
        hint={t.nameHint}
        value={fields.name}
        error={faults.name}
        onChange={(name) => setFields({ ...fields, name })}
      />
      <Scopes chosen={scopes} error={faults.scopes} onChange={setScopes} />
      {scopes.includes('rentals') && (
        <Checkbox
          label={t.ownMachinesLabel}
          hint={t.ownMachinesHint}
          checked={isOwnOnly}
          onChange={({ target }) => setOwnOnly(target.checked)}
        />
      )}
      <Expiry days={days} error={faults.expiresAt} onChange={setDays} />
      <LimitFields
        fields={fields}
        faults={faults}
        onChange={(changed) => {
          setFields(changed);
          setOwn({});
        }}
      />
      <Failure error={create.error} faults={faults} />
    </FormDialog>
  );
}

function Failure({ error, faults }: { readonly error: unknown; readonly faults: KeyFaults }) {
  if (error === null || Object.values(faults).some((fault) => fault !== undefined)) return null;
  if (isApiError(error, 'too_many_keys')) {
    return <Callout role="alert" tone="bad" title={t.tooMany(error.details.maxKeys)} />;
  }
  return <ErrorNote error={error} />;
}

interface ScopesProps {
  readonly chosen: readonly ApiKeyScope[];
  readonly error: string | undefined;
  readonly onChange: (scopes: readonly ApiKeyScope[]) => void;
}

function Scopes({ chosen, error, onChange }: ScopesProps) {
  const id = useId();
  return (
    <fieldset aria-describedby={error === undefined ? undefined : id} className="flex flex-col gap-2.5">
      <legend className="mb-1.5 text-[13px] font-medium text-soft">{t.scopesLabel}</legend>
      {allScopes.map((scope) => (
        <Checkbox
          key={scope}
          label={t.scopes[scope]}
          hint={t.scopeTexts[scope]}
          checked={chosen.includes(scope)}
          onChange={({ target }) =>
            onChange(allScopes.filter((one) => (one === scope ? target.checked : chosen.includes(one))))
          }
        />
      ))}
      {error !== undefined && (
        <p id={id} role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}

interface ExpiryProps {
  readonly days: number;
  readonly error: string | undefined;
  readonly onChange: (days: number) => void;
}

function Expiry({ days, error, onChange }: ExpiryProps) {
  const nowMs = useServiceNow(60_000);
  const end = new Date(nowMs + days * DAY_MS).toISOString();
  return (
    <Field label={t.expiry} hint={t.expiryAt(date(end))} error={error}>
      {(ids) => (
        <Select {...ids} name="expiry" value={days} onChange={({ target }) => onChange(Number(target.value))}>
          {EXPIRY_DAYS.map((choice) => (
            <option key={choice} value={choice}>
              {t.expiryDays(choice)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
