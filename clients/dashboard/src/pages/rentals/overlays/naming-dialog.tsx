import type { Rental } from '@gpu-rental/client';
import { useState } from 'react';
import { fieldError } from '../../../data/errors.js';
import { isLive } from '../../../data/rentals.js';
import { rentalTexts } from '../../../texts/rentals.js';
import { Field, Input } from '../../../ui/field.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { LabelEditor } from '../../../ui/label-editor.js';
import { labelsOf, pairsOf, sameLabels } from '../../../ui/label-pairs.js';
import { ChangeFailure } from './change-failure.js';
import { useChange } from './use-change.js';

const texts = rentalTexts.naming;

interface NamingDialogProps {
  readonly rental: Rental;
  readonly onClose: () => void;
}

/** Renames a rental, and changes its labels for as long as it lives. */
export function NamingDialog({ rental, onClose }: NamingDialogProps) {
  const [name, setName] = useState(rental.name ?? '');
  const [pairs, setPairs] = useState(() => pairsOf(rental.labels));
  const change = useChange(rental.id, texts.saved, onClose);
  const labels = labelsOf(pairs);
  const submit = (): void => {
    const trimmed = name.trim();
    change.send({
      ...(trimmed !== (rental.name ?? '') && { name: trimmed === '' ? null : trimmed }),
      ...(labels && !sameLabels(labels, rental.labels) && { labels }),
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={texts.title}
      submit={texts.save}
      isBusy={change.isPending}
      isDisabled={labels === undefined}
      onSubmit={submit}
    >
      <Field label={texts.name} hint={texts.nameHint} error={fieldError(change.error, 'name')}>
        {(ids) => (
          <Input
            {...ids}
            value={name}
            maxLength={64}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {isLive(rental) ? (
        <LabelEditor pairs={pairs} onChange={setPairs} error={fieldError(change.error, 'labels')} />
      ) : (
        <p className="text-[13px] text-muted">{texts.labelsFixed}</p>
      )}
      <ChangeFailure error={change.error} />
    </FormDialog>
  );
}
