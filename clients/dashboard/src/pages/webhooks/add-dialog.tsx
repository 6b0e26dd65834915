import { useState } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { useAddWebhook } from '../../data/webhooks.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ErrorNote } from '../../ui/states.js';
import { ChallengeAnswer } from './challenge.js';
import { faultsOf, newForm, typesOf } from './form.js';
import { SecretDialog } from './secret-dialog.js';
import { WebhookFields } from './webhook-fields.js';

/** Adds a webhook, shows its secret once, and says what its receiver must do. */
export function AddWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const { run, dialog } = useFreshProof();
  const add = useAddWebhook(run);
  const [form, setForm] = useState(newForm);
  const [wasSubmitted, setSubmitted] = useState(false);
  if (add.data) {
    return (
      <SecretDialog title={t.addedTitle} description={t.addedText} secret={add.data.secret} onClose={onClose}>
        <div>
          <p className="text-[13px] font-medium text-soft">{t.next}</p>
          <ol className="mt-1.5 flex list-decimal flex-col gap-2 pl-5">
            <li>
              {t.challengeStep}
              <ChallengeAnswer />
            </li>
            <li>{t.verifyStep}</li>
            <li>{t.answerStep}</li>
          </ol>
        </div>
      </SecretDialog>
    );
  }
  const faults = faultsOf(add.error, form, wasSubmitted);
  const submit = (): void => {
    setSubmitted(true);
    if (!form.isAll && form.types.length === 0) return;
    add.mutate({ url: form.url, description: form.description, types: typesOf(form) });
  };
  const isAtField = Object.values(faults).some((fault) => fault !== undefined);
  return (
    <FormDialog
      onClose={onClose}
      title={t.add}
      submit={t.add}
      onSubmit={submit}
      isBusy={add.isPending}
      beside={dialog}
    >
      <WebhookFields form={form} faults={faults} onChange={setForm} />
      {add.isError && !isAtField && <ErrorNote error={add.error} />}
    </FormDialog>
  );
}
