import type { AccountClosing } from '@gpu-rental/client';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFreshProof } from '../../../app/fresh-proof.js';
import { meQuery } from '../../../data/account.js';
import { closingQuery, useCloseAccount } from '../../../data/closing.js';
import { fieldError } from '../../../data/errors.js';
import { money } from '../../../format/money.js';
import { accountTexts } from '../../../texts/account.js';
import { Field, Input } from '../../../ui/field.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { ErrorNote, Skeleton } from '../../../ui/states.js';
import { Returns } from '../returns.js';

const t = accountTexts.close;

/** Tells what closing the account does, by the service's own word, and does it once its address was typed. */
export function CloseDialog({ onClose }: { readonly onClose: () => void }) {
  const { email } = useSuspenseQuery(meQuery).data.user;
  // Machines have cost more since the page was opened.
  const closing = useQuery({ ...closingQuery, refetchOnMount: 'always' });
  const { run, dialog } = useFreshProof();
  const close = useCloseAccount(run);
  const [typed, setTyped] = useState('');
  const addressError = fieldError(close.error, 'email');
  return (
    <FormDialog
      onClose={onClose}
      title={t.question}
      description={t.questionText}
      submit={t.confirm}
      look="danger"
      onSubmit={() => close.mutate(typed.trim(), { onSuccess: onClose })}
      isBusy={close.isPending}
      isDisabled={!closing.isSuccess || closing.isFetching || typed.trim().toLowerCase() !== email}
      beside={dialog}
    >
      {closing.data && <Effects closing={closing.data} />}
      {closing.isError && <ErrorNote error={closing.error} onRetry={() => void closing.refetch()} />}
      {!closing.data && !closing.isError && <Skeleton className="h-40 w-full" />}
      <Field label={t.address(email)} error={addressError}>
        {(ids) => (
          <Input
            {...ids}
            name="email"
            inputMode="email"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
      </Field>
      {close.isError && addressError === undefined && <ErrorNote error={close.error} />}
    </FormDialog>
  );
}

/** What closing does, as of now. */
function Effects({ closing }: { readonly closing: AccountClosing }) {
  const { machines, openInvoices, openDisputes, returns, lapsesCents } = closing;
  return (
    <ul className="flex list-disc flex-col gap-1.5 pl-5">
      {machines > 0 && <li>{t.machines(machines)}</li>}
      <li>{t.ends}</li>
      {openInvoices + openDisputes > 0 && <li>{t.unsettled(openInvoices, openDisputes)}</li>}
      <li>
        {returns.length === 0 ? t.noReturns : t.returns}
        <Returns returns={returns} />
      </li>
      {lapsesCents > 0 && <li>{t.lapses(money(lapsesCents))}</li>}
      <li>{t.erases}</li>
    </ul>
  );
}
