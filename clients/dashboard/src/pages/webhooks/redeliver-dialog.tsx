import type { Webhook } from '@gpu-rental/client';
import { useState } from 'react';
import { useToasts } from '../../app/toasts.js';
import { fieldError } from '../../data/errors.js';
import { useRedeliver } from '../../data/webhooks.js';
import { plainDigits } from '../../format/digits.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Field, Input } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { ErrorNote } from '../../ui/states.js';

interface RedeliverDialogProps {
  readonly hook: Webhook;
  /** Filled in; undefined where nobody knows yet. */
  readonly afterSeq: number | undefined;
  readonly onClose: () => void;
}

/** Has all events after a number sent again. */
export function RedeliverDialog({ hook, afterSeq, onClose }: RedeliverDialogProps) {
  const redeliver = useRedeliver(hook.id);
  const toasts = useToasts();
  const [text, setText] = useState(afterSeq?.toString() ?? '');
  const [isWrong, setWrong] = useState(false);
  const said = fieldError(redeliver.error, 'afterSeq');
  const submit = (): void => {
    const plain = plainDigits(text).trim();
    const isNumber = /^\d{1,15}$/.test(plain);
    setWrong(!isNumber);
    if (!isNumber) return;
    redeliver.mutate(Number(plain), {
      onSuccess: (answer) => {
        toasts.show({ tone: 'good', title: t.redelivering(answer.afterSeq) });
        onClose();
      },
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={t.redeliverTitle}
      description={t.redeliverText}
      submit={t.redeliver}
      onSubmit={submit}
      isBusy={redeliver.isPending}
    >
      <Field label={t.afterSeq} hint={t.afterSeqHint} error={isWrong ? t.afterSeqFault : said}>
        {(ids) => (
          <Input
            {...ids}
            name="afterSeq"
            inputMode="numeric"
            autoComplete="off"
            value={text}
            onChange={({ target }) => setText(target.value)}
            className="tabular"
          />
        )}
      </Field>
      {redeliver.isError && said === undefined && <ErrorNote error={redeliver.error} />}
    </FormDialog>
  );
}
