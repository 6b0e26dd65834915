import { isApiError, type Budget } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type SubmitEvent } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { useToasts } from '../../app/toasts.js';
import { budgetQuery, saveBudget } from '../../data/budget.js';
import { fieldError, ProofCancelled } from '../../data/errors.js';
import { useMutation } from '../../data/use-mutation.js';
import { budgetTexts as t } from '../../texts/budget.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field, Radio } from '../../ui/field.js';
import { MoneyInput } from '../../ui/money-input.js';
import { ErrorNote } from '../../ui/states.js';
import { useFields } from '../../ui/use-fields.js';
import { fieldsOf, readFields } from './budget-form.js';

/** Sets the budget. Loosening a hard one shows first who sits there. */
export function BudgetSettings({ budget }: { readonly budget: Budget }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const { run, dialog } = useFreshProof();
  const { fields, change, forget } = useFields(fieldsOf(budget));
  const [isChecked, setChecked] = useState(false);
  const save = useMutation({
    mutationFn: (body: Parameters<typeof saveBudget>[0]) => run(() => saveBudget(body)),
    onSuccess: (stored) => {
      client.setQueryData(budgetQuery.queryKey, stored);
      forget();
      toasts.show({ tone: 'good', title: t.saved });
    },
  });
  const read = readFields(fields);
  const fault = isChecked && 'error' in read ? read.error : undefined;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setChecked(true);
    if (!('error' in read)) save.mutate(read);
  };
  return (
    <Card title={t.settings}>
      <form noValidate className="flex flex-col gap-5" onSubmit={submit}>
        <Field label={t.amount} hint={t.amountHint} error={fault ?? fieldError(save.error, 'monthlyCents')}>
          {(ids) => (
            <MoneyInput
              {...ids}
              className="sm:max-w-60"
              value={fields.amount}
              onChange={({ target }) => change({ amount: target.value })}
            />
          )}
        </Field>
        <fieldset className="flex flex-col gap-3">
          <legend className="mb-2 text-[13px] font-medium text-soft">{t.how}</legend>
          <Radio
            name="how"
            label={t.softLabel}
            hint={t.softHint}
            checked={!fields.isHard}
            onChange={() => change({ isHard: false })}
          />
          <Radio
            name="how"
            label={t.hardLabel}
            hint={t.hardHint}
            checked={fields.isHard}
            onChange={() => change({ isHard: true })}
          />
        </fieldset>
        {save.isError && <SaveError error={save.error} />}
        <Button look="primary" type="submit" isBusy={save.isPending} className="self-start">
          {t.save}
        </Button>
      </form>
      {dialog}
    </Card>
  );
}

function SaveError({ error }: { readonly error: unknown }) {
  if (error instanceof ProofCancelled) return null;
  if (isApiError(error, 'budget_reserved') && error.details.unlimited !== undefined) {
    return (
      <Callout role="alert" tone="warn" title={t.unlimitedTitle}>
        <p>{t.unlimited}</p>
        <ul className="mt-1 flex flex-col gap-0.5">
          {error.details.unlimited.map(({ rentalId }) => (
            <li key={rentalId}>
              <Link
                to="/app/rentals/$rentalId"
                params={{ rentalId }}
                className="font-mono text-xs break-all underline"
              >
                {rentalId}
              </Link>
            </li>
          ))}
        </ul>
      </Callout>
    );
  }
  return <ErrorNote error={error} />;
}
