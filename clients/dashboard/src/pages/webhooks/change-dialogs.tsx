import type { Webhook } from '@gpu-rental/client';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { isOutcomeUnknown } from '../../data/outcome.js';
import { useChangeWebhook, useRemoveWebhook, useRotateSecret } from '../../data/webhooks.js';
import { fullTime } from '../../format/time.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Callout } from '../../ui/badge.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ErrorNote } from '../../ui/states.js';
import { useFields } from '../../ui/use-fields.js';
import { changeOf, faultsOf, formOf } from './form.js';
import { SecretDialog } from './secret-dialog.js';
import { WebhookFields } from './webhook-fields.js';

interface WebhookDialogProps {
  readonly hook: Webhook;
  readonly onClose: () => void;
}

/** Changes address, types and description; only what differs is sent. */
export function ChangeWebhookDialog({ hook, onClose }: WebhookDialogProps) {
  const { run, dialog } = useFreshProof();
  const change = useChangeWebhook(hook.id, run);
  const { fields: form, change: type } = useFields(formOf(hook));
  const [wasSubmitted, setSubmitted] = useState(false);
  const faults = faultsOf(change.error, form, wasSubmitted);
  const submit = (): void => {
    setSubmitted(true);
    if (!form.isAll && form.types.length === 0) return;
    const changes = changeOf(hook, form);
    if (Object.keys(changes).length === 0) onClose();
    else change.mutate(changes, { onSuccess: onClose });
  };
  const isAtField = Object.values(faults).some((fault) => fault !== undefined);
  return (
    <FormDialog
      onClose={onClose}
      title={t.changeTitle}
      description={t.changeText}
      submit={t.save}
      onSubmit={submit}
      isBusy={change.isPending}
      beside={dialog}
    >
      <WebhookFields form={form} faults={faults} onChange={type} />
      {change.isError && !isAtField && <ErrorNote error={change.error} />}
    </FormDialog>
  );
}

/** Makes a new secret after a question, and shows it once. */
export function RotateSecretDialog({ hook, onClose }: WebhookDialogProps) {
  const { run, dialog } = useFreshProof();
  const rotate = useRotateSecret(hook.id, run);
  if (rotate.data) {
    const { secret, previousSecretValidUntil } = rotate.data;
    return (
      <SecretDialog
        title={t.rotatedTitle}
        description={t.rotatedText(fullTime(previousSecretValidUntil))}
        secret={secret}
        onClose={onClose}
      />
    );
  }
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.rotateTitle}
      description={t.rotateText}
      confirm={t.rotate}
      look="primary"
      onConfirm={() => rotate.mutate()}
      isBusy={rotate.isPending}
      error={rotate.error}
    >
      {dialog === false ? undefined : dialog}
      {rotate.isError && isOutcomeUnknown(rotate.error) && (
        <Callout role="alert" tone="warn" title={t.rotateOpenTitle}>
          {t.rotateOpen}
        </Callout>
      )}
    </ConfirmDialog>
  );
}

/** Removes the webhook after a question. */
export function RemoveWebhookDialog({ hook, onClose }: WebhookDialogProps) {
  const remove = useRemoveWebhook(hook.id);
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.removeTitle}
      description={t.removeText}
      confirm={t.remove}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/app/webhooks' }) })}
      isBusy={remove.isPending}
      error={remove.error}
    >
      <p className="font-mono text-[13px] break-all text-muted">{hook.url}</p>
    </ConfirmDialog>
  );
}
