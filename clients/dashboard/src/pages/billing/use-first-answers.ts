import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { autoTopupQuery } from '../../data/auto-topup.js';
import { cardQuery } from '../../data/card.js';
import { billingConfigQuery } from '../../data/billing-config.js';
import { topupsQuery } from '../../data/topups.js';
import { balanceQuery } from '../../data/wallet.js';

/**
 * Tells whether each part of the page has had its first answer, or failure. All are asked for at once and shown at
 * once: none moves what another has shown.
 */
export function useFirstAnswers(): boolean {
  const balance = useQuery(balanceQuery);
  const config = useQuery(billingConfigQuery);
  const card = useQuery(cardQuery);
  const autoTopup = useQuery(autoTopupQuery);
  const topups = useInfiniteQuery(topupsQuery);
  const [areThere, setThere] = useState(false);
  const isPending = [balance, config, card, autoTopup, topups].some((query) => query.isPending);
  // A part that is asked for again after a failure takes nothing away of what was typed.
  if (!isPending && !areThere) setThere(true);
  return areThere;
}
