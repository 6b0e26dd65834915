import type { Rental } from '@gpu-rental/client';
import { Suspense, useState } from 'react';
import { isUsed } from '../../data/rentals.js';
import { rentalListTexts } from '../../texts/rental-list.js';
import { Button } from '../../ui/button.js';
import { Checkbox } from '../../ui/field.js';
import { StopIcon } from '../../ui/icons.js';
import { lazyPart } from '../../ui/lazy-part.js';

const texts = rentalListTexts;
// Loaded when it is first asked for.
const StopManyDialog = lazyPart(() => import('./overlays/stop-many-dialog.js'), 'StopManyDialog');

/** Which machines are chosen, of those that can be stopped. */
export interface Choice {
  readonly choosable: readonly Rental[];
  readonly chosen: readonly Rental[];
  readonly choose: (ids: readonly string[]) => void;
}

/** Keeps which machines are chosen. One that ends by itself is chosen no more. */
export function useChoice(rentals: readonly Rental[] = []): Choice {
  const [ids, choose] = useState<readonly string[]>([]);
  const choosable = rentals.filter(isUsed);
  return { choosable, chosen: choosable.filter(({ id }) => ids.includes(id)), choose };
}

/** Chooses all machines, and stops those that are chosen. One alone is stopped on its own page as well. */
export function Choosing({ choice: { choosable, chosen, choose } }: { readonly choice: Choice }) {
  const [asked, setAsked] = useState<readonly Rental[]>();
  const isAll = chosen.length === choosable.length;
  return (
    <>
      {choosable.length > 0 && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          <Checkbox
            label={texts.chooseAll}
            checked={isAll}
            ref={(box) => {
              if (box) box.indeterminate = !isAll && chosen.length > 0;
            }}
            onChange={() => choose(isAll ? [] : choosable.map(({ id }) => id))}
          />
          {chosen.length > 0 && (
            <Button look="danger" size="small" onClick={() => setAsked(chosen)}>
              <StopIcon />
              {texts.stopChosen(chosen.length)}
            </Button>
          )}
          <span role="status" className="sr-only">
            {chosen.length > 0 && texts.chosen(chosen.length)}
          </span>
        </div>
      )}
      <Suspense>
        {asked !== undefined && (
          <StopManyDialog
            rentals={asked}
            onClose={() => {
              setAsked(undefined);
              choose([]);
            }}
          />
        )}
      </Suspense>
    </>
  );
}

/** Chooses one machine. */
export function ChoiceBox({
  rental,
  name,
  choice: { chosen, choose },
}: {
  readonly rental: Rental;
  readonly name: string;
  readonly choice: Choice;
}) {
  const ids = chosen.map(({ id }) => id);
  const isChosen = ids.includes(rental.id);
  return (
    <label className="relative z-10 -m-2.5 inline-flex shrink-0 p-2.5">
      <input
        type="checkbox"
        aria-label={texts.choose(name)}
        checked={isChosen}
        onChange={() => choose(isChosen ? ids.filter((id) => id !== rental.id) : [...ids, rental.id])}
        className="size-4.5 accent-(--accent)"
      />
    </label>
  );
}
