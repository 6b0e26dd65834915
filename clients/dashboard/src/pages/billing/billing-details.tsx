import type { BillingDetails } from '@gpu-rental/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { useToasts } from '../../app/toasts.js';
import { billingDetailsQuery, saveBillingDetails } from '../../data/billing-details.js';
import { fieldError } from '../../data/errors.js';
import { useMutation } from '../../data/use-mutation.js';
import { billingTexts } from '../../texts/billing.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Field, Input, Textarea } from '../../ui/field.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { useFields } from '../../ui/use-fields.js';

const t = billingTexts.details;

/** Whom statements and receipts are made out to. */
export function BillingDetailsSection() {
  const { data, error, isPending, refetch } = useQuery(billingDetailsQuery);
  return (
    <Card title={t.title}>
      {error && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-64 w-full" />}
      {data !== undefined && <DetailsForm stored={data} />}
    </Card>
  );
}

function DetailsForm({ stored }: { readonly stored: BillingDetails }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const { fields: typed, change, forget } = useFields(fieldsOf(stored));
  const save = useMutation({
    mutationFn: saveBillingDetails,
    onSuccess: (details) => {
      client.setQueryData(billingDetailsQuery.queryKey, details);
      forget();
      toasts.show({ tone: 'good', title: t.saved });
    },
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    save.mutate({ name: said(typed.name), address: said(typed.address), taxId: said(typed.taxId) });
  };
  const fieldOf = (name: keyof BillingDetails) => ({ label: t[name], error: fieldError(save.error, name) });
  const isTold = Object.keys(typed).some((name) => fieldError(save.error, name) !== undefined);
  return (
    <form noValidate className="flex flex-col gap-4" onSubmit={submit}>
      <p className="text-muted">{t.why}</p>
      <div className="grid grid-cols-1 gap-4 md:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Field {...fieldOf('name')}>
            {(ids) => (
              <Input
                {...ids}
                autoComplete="organization"
                value={typed.name}
                onChange={({ target }) => change({ name: target.value })}
              />
            )}
          </Field>
          <Field {...fieldOf('taxId')} hint={t.taxIdHint}>
            {(ids) => (
              <Input
                {...ids}
                value={typed.taxId}
                onChange={({ target }) => change({ taxId: target.value })}
              />
            )}
          </Field>
        </div>
        <Field {...fieldOf('address')}>
          {(ids) => (
            <Textarea
              {...ids}
              rows={5}
              autoComplete="street-address"
              className="font-sans text-sm"
              value={typed.address}
              onChange={({ target }) => change({ address: target.value })}
            />
          )}
        </Field>
      </div>
      {save.isError && !isTold && <ErrorNote error={save.error} />}
      <Button type="submit" isBusy={save.isPending} className="self-start">
        {t.save}
      </Button>
    </form>
  );
}

const fieldsOf = ({ name, address, taxId }: BillingDetails) => ({
  ...{ name: name ?? '', address: address ?? '', taxId: taxId ?? '' },
});

const said = (text: string): string | null => (text.trim() === '' ? null : text.trim());
