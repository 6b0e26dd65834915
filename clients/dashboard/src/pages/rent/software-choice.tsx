import { useQuery } from '@tanstack/react-query';
import { Suspense, useCallback, useId, useState } from 'react';
import { templatesQuery } from '../../data/catalog.js';
import { fieldError } from '../../data/errors.js';
import { rentTexts } from '../../texts/rent.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { classes } from '../../ui/classes.js';
import { Field, Select } from '../../ui/field.js';
import { ChevronDownIcon } from '../../ui/icons.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { Skeleton } from '../../ui/states.js';
import type { ChoiceProps } from './further-choices.js';
import { noSoftware, type HeldSoftware } from './software-draft.js';

const texts = rentTexts.software;
// Loaded when it is first unfolded.
const OwnSoftwareFields = lazyPart(() => import('./overlays/own-software.js'), 'OwnSoftwareFields');

interface SoftwareChoiceProps extends ChoiceProps {
  readonly own: HeldSoftware;
  readonly onOwn: (own: HeldSoftware) => void;
}

/** What is installed on the machine. */
export function SoftwareChoice({ own, onOwn, ...choice }: SoftwareChoiceProps) {
  const { search, onChange, error } = choice;
  const { data: templates = [] } = useQuery(templatesQuery);
  const chosen = templates.find(({ id, isDefault }) =>
    search.template === undefined ? isDefault : id === search.template,
  );
  const hasImage = own.asked.image !== undefined;
  return (
    <Card title={texts.title}>
      <Field
        label={texts.template}
        hint={hasImage ? texts.instead : chosen && <WithCode text={chosen.description} />}
        error={fieldError(error, 'templateId')}
      >
        {(ids) => (
          <Select
            {...ids}
            disabled={hasImage}
            value={chosen?.id ?? ''}
            onChange={(event) => onChange({ template: event.target.value })}
          >
            {!chosen && <option value="">{search.template ?? ''}</option>}
            {templates.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <FoldedSoftware {...{ own, onOwn }} {...choice} />
    </Card>
  );
}

/** The service writes commands between backticks. */
function WithCode({ text }: { readonly text: string }) {
  const parts = text.split('`').map((part, place) =>
    place % 2 === 0 ? (
      part
    ) : (
      <code key={`${place} ${part}`} className="font-mono text-xs break-words">
        {part}
      </code>
    ),
  );
  return <>{parts}</>;
}

/** Own software, folded away until somebody wants it. What was typed counts while it is folded, too. */
function FoldedSoftware({ own, onOwn, error, onFault }: SoftwareChoiceProps) {
  const id = useId();
  const isUsed = Object.keys(own.asked).length > 0;
  const [isUnfolded, setUnfolded] = useState(own !== noSoftware);
  const [wasUnfolded, setWasUnfolded] = useState(isUnfolded);
  const tellFault = useCallback((isWrong: boolean) => onFault('software', isWrong), [onFault]);
  return (
    <div className="mt-4 border-t border-line pt-3">
      <Button
        look="quiet"
        size="small"
        className="-ml-2.5"
        aria-expanded={isUnfolded}
        aria-controls={id}
        onClick={() => {
          setUnfolded(!isUnfolded);
          setWasUnfolded(true);
        }}
      >
        {isUsed ? texts.ownUsed : texts.own}
        <ChevronDownIcon className={classes('size-4 transition-transform', isUnfolded && 'rotate-180')} />
      </Button>
      <div id={id} hidden={!isUnfolded} className="pt-2">
        <Suspense fallback={<Skeleton className="h-96 w-full" />}>
          {wasUnfolded && (
            <OwnSoftwareFields draft={own.draft} onChange={onOwn} error={error} onFault={tellFault} />
          )}
        </Suspense>
      </div>
    </div>
  );
}
