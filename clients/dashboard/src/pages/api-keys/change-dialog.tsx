import { isApiError, type ApiKey } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { useToasts } from '../../app/toasts.js';
import { useChangeApiKey } from '../../data/api-keys.js';
import { money } from '../../format/money.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { Callout } from '../../ui/badge.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ErrorNote } from '../../ui/states.js';
import { changeOf, faultsOf, fieldsOf, type KeyFaults } from './form.js';
import { NameField } from '../../ui/name-field.js';
import { LimitFields } from './key-fields.js';

interface ChangeApiKeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

/** Changes a key's name and limits; only what differs is sent. */
export function ChangeApiKeyDialog({ apiKey, onClose }: ChangeApiKeyDialogProps) {
  const { run, dialog } = useFreshProof();
  const change = useChangeApiKey(apiKey.id, run);
  const toasts = useToasts();
  const [fields, setFields] = useState(() => fieldsOf(apiKey));
  const [isCapWrong, setCapWrong] = useState(false);
  const submit = (): void => {
    const changes = changeOf(apiKey, fields);
    setCapWrong(changes === undefined);
    if (changes === undefined) return;
    if (Object.keys(changes).length === 0) {
      onClose();
      return;
    }
    change.mutate(changes, {
      onSuccess: ({ spendCapCents }) => {
        const asked = changes.spendCapCents;
        if (typeof asked === 'number' && spendCapCents !== null && spendCapCents !== asked) {
          toasts.show({ tone: 'info', title: t.capRaised(money(spendCapCents)), text: t.capRaisedText });
        }
        onClose();
      },
    });
  };
  const said = faultsOf(change.error);
  const faults = isCapWrong ? { ...said, cap: t.capFault } : said;
  return (
    <FormDialog
      onClose={onClose}
      title={t.changeTitle(apiKey.name)}
      description={t.changeText}
      submit={t.save}
      onSubmit={submit}
      isBusy={change.isPending}
      beside={dialog}
    >
      <NameField
        label={t.name}
        hint={t.nameHint}
        value={fields.name}
        error={faults.name}
        onChange={(name) => setFields({ ...fields, name })}
      />
      <LimitFields
        fields={fields}
        faults={faults}
        onChange={(changed) => {
          setFields(changed);
          setCapWrong(false);
        }}
      />
      <Failure error={change.error} faults={faults} onClose={onClose} />
    </FormDialog>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly faults: KeyFaults;
  readonly onClose: () => void;
}

function Failure({ error, faults, onClose }: FailureProps) {
  if (error === null || Object.values(faults).some((fault) => fault !== undefined)) return null;
  const unlimited = isApiError(error, 'cap_reserved') ? error.details.unlimited : undefined;
  if (!unlimited) return <ErrorNote error={error} />;
  return (
    <Callout role="alert" tone="bad" title={t.capReserved}>
      <ul>
        {unlimited.map(({ rentalId }) => (
          <li key={rentalId}>
            <Link
              to="/app/rentals/$rentalId"
              params={{ rentalId }}
              onClick={onClose}
              className="font-mono text-[13px] break-all underline"
            >
              {rentalId}
            </Link>
          </li>
        ))}
      </ul>
    </Callout>
  );
}
