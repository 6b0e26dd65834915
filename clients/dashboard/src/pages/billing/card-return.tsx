import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { notedCard } from '../../data/before-leaving.js';
import { cardQuery, savedCard } from '../../data/card.js';
import { billingTexts } from '../../texts/billing.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses, Spinner } from '../../ui/button.js';
import { cardName } from './card-state.js';
import { DoneButton } from './returned-note.js';
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
  return (
    <div aria-live="polite">
      {card && isNew(card.pmId, before) ? (
        <Callout tone="good" title={t.savedTitle(cardName(card))} actions={<DoneButton />}>
          {t.saved}
        </Callout>
      ) : (
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

/** @param before the card before; undefined where nothing is known of it, so that any card is the new one */
function isNew(pmId: string | undefined, before: string | undefined): boolean {
  return pmId !== undefined && pmId !== before;
}
