import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { notedCard } from '../../data/before-leaving.js';
import { cardQuery, savedCard } from '../../data/card.js';
import { billingTexts } from '../../texts/billing.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses, Spinner } from '../../ui/button.js';
import { cardName } from './card-state.js';
import { DoneButton, useDone } from './returned-note.js';
import type { BillingSearch } from './search.js';
import { pauseMs, useLate } from './use-late.js';

const t = billingTexts.card;

/** Stands above the page after a card was entered, until the service says that it is saved. */
export function CardReturn({ how }: { readonly how: NonNullable<BillingSearch['setup']> }) {
  return how === 'failed' ? <CardFailed /> : <CardAwaited />;
}

function CardFailed() {
  return (
    <Callout
      role="alert"
      tone="bad"
      title={t.failedTitle}
      actions={
        <>
          <a href="/app/card" className={buttonClasses('primary', 'small')}>
            {t.add}
          </a>
          <DoneButton />
        </>
      }
    >
      {t.failed}
    </Callout>
  );
}

function CardAwaited() {
  const [before] = useState(notedCard);
  const isLate = useLate();
  const { data } = useQuery({
    ...cardQuery,
    refetchInterval: ({ state }) => (isNew(savedCard(state.data)?.pmId, before) ? false : pauseMs(isLate)),
  });
  const card = savedCard(data);
  const isSaved = isNew(card?.pmId, before);
  const isGone = useWas(isSaved) && !isSaved;
  const done = useDone();
  useEffect(() => {
    if (isGone) done();
  });
  return (
    <div aria-live="polite">
      {card && isSaved && (
        <Callout tone="good" title={t.savedTitle(cardName(card))} actions={<DoneButton />}>
          {t.saved}
        </Callout>
      )}
      {!isSaved && !isGone && (
        <Callout tone="info" title={t.savingTitle}>
          <p className="flex items-start gap-2">
            <Spinner className="mt-0.5 size-4 shrink-0" />
            {isLate ? t.savingLate : t.saving}
          </p>
        </Callout>
      )}
    </div>
  );
}

/** Whether it was ever so since the component is there: a card that was saved may be removed again. */
function useWas(isSo: boolean): boolean {
  const [was, setWas] = useState(isSo);
  if (isSo && !was) setWas(true);
  return was || isSo;
}

/** @param before the card before; undefined where nothing is known of it, so that any card is the new one */
function isNew(pmId: string | undefined, before: string | undefined): boolean {
  return pmId !== undefined && pmId !== before;
}
