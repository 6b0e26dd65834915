import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { autoTopupQuery } from '../../data/auto-topup.js';
import { cardQuery, removeCard, savedCard, type SavedCard } from '../../data/card.js';
import { useIsClosing } from '../../data/is-closing.js';
import { useMutation } from '../../data/use-mutation.js';
import { money } from '../../format/money.js';
import { useServiceNow } from '../../live/service-clock.js';
import { billingTexts } from '../../texts/billing.js';
import { Badge } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { ConfirmDialog } from '../../ui/confirm-dialog.js';
import { CardIcon } from '../../ui/icons.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { cardName, expiryOf, validityOf } from './card-state.js';

const t = billingTexts.card;

/** The saved card: what it is, whether it still holds, and how to get rid of it. */
export function SavedCardSection() {
  const { data, error, isPending, refetch } = useQuery(cardQuery);
  const card = savedCard(data);
  const isClosing = useIsClosing();
  return (
    <Card title={t.title}>
      {error && data === undefined && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {isPending && <Skeleton className="h-20 w-full" />}
      {data !== undefined && card === undefined && (
        <div className="flex flex-col items-start gap-3">
          <div>
            <p className="font-medium">{t.none}</p>
            <p className="text-muted">{t.noneWhy}</p>
          </div>
          {/* A document of its own: the router must not take this link. */}
          {!isClosing && (
            <a href="/app/card" className={buttonClasses('secondary')}>
              {t.add}
            </a>
          )}
        </div>
      )}
      {card && <ShownCard card={card} />}
    </Card>
  );
}

function ShownCard({ card }: { readonly card: SavedCard }) {
  const [isRemoving, setRemoving] = useState(false);
  const validity = validityOf(card, new Date(useServiceNow(60_000)));
  const expiry = expiryOf(card);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex items-center gap-3">
        <span className="flex size-10 shrink-0 items-center justify-center rounded-md border border-line bg-sunken text-soft">
          <CardIcon className="size-5" />
        </span>
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium break-words tabular">
            {cardName(card)}
            {validity === 'expired' && <Badge tone="bad">{t.expired}</Badge>}
            {validity === 'soon' && <Badge tone="warn">{t.soon}</Badge>}
          </p>
          {expiry !== undefined && <p className="text-[13px] text-muted tabular">{t.validUntil(expiry)}</p>}
        </div>
      </div>
      {validity !== 'valid' && (
        <p className={validity === 'expired' ? 'text-bad' : 'text-warn'}>
          {validity === 'expired' ? t.expiredWhy : t.soonWhy}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <a
          href="/app/card"
          className={buttonClasses(validity === 'valid' ? 'secondary' : 'primary', 'small')}
        >
          {t.replace}
        </a>
        <Button size="small" onClick={() => setRemoving(true)}>
          {t.remove}
        </Button>
      </div>
      {isRemoving && <RemoveDialog card={card} onClose={() => setRemoving(false)} />}
    </div>
  );
}

/** Asks once, and tells what stops with the card. */
function RemoveDialog({ card, onClose }: { readonly card: SavedCard; readonly onClose: () => void }) {
  const client = useQueryClient();
  const auto = useQuery(autoTopupQuery);
  const remove = useMutation({
    mutationFn: removeCard,
    onSuccess: () => {
      for (const noun of ['card', 'autoTopup']) void client.invalidateQueries({ queryKey: [noun] });
      onClose();
    },
  });
  const { enabled = false, topupAmountCents, thresholdCents } = auto.data ?? {};
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.removeTitle(cardName(card))}
      description={t.removeWhy}
      confirm={t.remove}
      onConfirm={() => remove.mutate()}
      isBusy={remove.isPending}
      error={remove.error}
    >
      {enabled && <p>{t.removeStops(money(topupAmountCents ?? 0), money(thresholdCents ?? 0))}</p>}
    </ConfirmDialog>
  );
}
