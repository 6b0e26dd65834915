import type { Rental } from '@gpu-rental/client';
import { fieldError } from '../../../data/errors.js';
import { isLive } from '../../../data/rentals.js';
import { rentalTexts } from '../../../texts/rentals.js';
import { textWords, wordTexts } from '../../../texts/words.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { LabelEditor } from '../../../ui/label-editor.js';
import { labelsOf, pairsOf, sameLabels } from '../../../ui/label-pairs.js';
import { useFields } from '../../../ui/use-fields.js';
import { WordFields } from '../word-fields.js';
import { ChangeFailure } from './change-failure.js';
import { useChange } from './use-change.js';

const texts = rentalTexts.naming;

interface NamingDialogProps {
  readonly rental: Rental;
  readonly onClose: () => void;
}

/** Changes what its renter says about a rental, and its labels for as long as it lives. */
export function NamingDialog({ rental, onClose }: NamingDialogProps) {
  const { fields, change: type } = useFields(fieldsOf(rental));
  const change = useChange(rental.id, texts.saved, onClose);
  const labels = labelsOf(fields.pairs);
  const submit = (): void => {
    const texts = textWords
      .filter((word) => fields[word] !== (rental[word] ?? ''))
      .map((word) => [word, fields[word].trim()] as const)
      .map(([word, text]) => [word, text === '' ? null : text] as const);
    change.send({
      ...Object.fromEntries(texts),
      ...(labels && !sameLabels(labels, rental.labels) && { labels }),
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={wordTexts.edit}
      submit={texts.save}
      isBusy={change.isPending}
      isDisabled={labels === undefined}
      onSubmit={submit}
    >
      <WordFields words={fields} onChange={type} error={change.error} />
      {isLive(rental) ? (
        <LabelEditor
          pairs={fields.pairs}
          onChange={(pairs) => type({ pairs })}
          error={fieldError(change.error, 'labels')}
        />
      ) : (
        <p className="text-[13px] text-muted">{wordTexts.labelsFixed}</p>
      )}
      <ChangeFailure error={change.error} />
    </FormDialog>
  );
}

/** What is said of a rental as it is typed. */
const fieldsOf = ({ name, notes, labels }: Rental) => ({
  ...{ name: name ?? '', notes: notes ?? '', pairs: pairsOf(labels) },
});
