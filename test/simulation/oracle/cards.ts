import { HOUR_MS, told, type Evidence } from './evidence.js';

interface SavedCard {
  readonly pm_id: string;
  readonly email: string;
  readonly removed_ms: string | null;
}

interface Mail {
  readonly recipient: string;
}

/**
 * Saved cards (decision 33, "Removal of a card"). No top-up that was begun later charges a card that was removed or whose
 * month was over. What was removed or replaced can't be charged in the end, and the owner of a card that expired was told
 * so once.
 */
export async function judgeCards(evidence: Evidence): Promise<string[]> {
  const { ask, world, told: heard, nowMs } = evidence;
  const { truth } = world.processor;
  const topups = await ask<{ id: string; begun_ms: string }>(
    'select id, extract(epoch from created_at) * 1000 as begun_ms from topups',
  );
  const begun = new Map(topups.map(({ id, begun_ms: begunMs }) => [id, Number(begunMs)]));
  const saved = await ask<SavedCard>(
    `select c.pm_id, u.email, extract(epoch from c.removed_at) * 1000 as removed_ms
       from saved_cards c join users u on u.id = c.user_id`,
  );
  const mails = await ask<Mail>(
    `select recipient from mail_outbox where subject = 'Your saved card has expired'`,
  );
  const replaced = saved.flatMap(({ pm_id: id, removed_ms: ms }) =>
    ms === null ? [] : [[id, Number(ms)] as const],
  );
  const removed = new Map(heard.removedCards.map(({ cardId, answeredMs }) => [cardId, answeredMs]));
  const gone = new Map([...replaced, ...removed]);
  return [
    ...truth.charges.flatMap(({ cardId, topupId }) => {
      if (cardId === null) return [];
      const card = truth.card(cardId);
      const begunMs = begun.get(topupId ?? '') ?? -Infinity;
      return [
        ...told(
          begunMs > (removed.get(cardId) ?? Infinity),
          `card ${cardId} was charged by ${String(topupId)} after its removal`,
        ),
        ...told(
          card !== undefined && begunMs >= card.monthEndMs,
          `card ${cardId} was charged by ${String(topupId)} after its month`,
        ),
      ];
    }),
    ...[...gone]
      .filter(([cardId, goneMs]) => goneMs + HOUR_MS < nowMs && truth.card(cardId)?.ownerId !== null)
      .map(([cardId]) => `card ${cardId} was removed, and may still be charged at the processor`),
    ...judgeExpired(evidence, saved, mails),
  ];
}

function judgeExpired(
  { world, nowMs }: Evidence,
  saved: readonly SavedCard[],
  mails: readonly Mail[],
): string[] {
  const isOver = ({ pm_id: id }: SavedCard, beforeMs: number): boolean => {
    const card = world.processor.truth.card(id);
    return card !== undefined && card.monthEndMs < beforeMs;
  };
  return [...new Set(saved.map(({ email }) => email))].flatMap((email) => {
    const own = saved.filter((card) => card.email === email);
    const mailed = mails.filter(({ recipient }) => recipient === email).length;
    const least = own.filter((card) => card.removed_ms === null && isOver(card, nowMs - HOUR_MS)).length;
    const most = own.filter((card) => isOver(card, nowMs)).length;
    return told(
      mailed < least || mailed > most,
      `${email} was told ${mailed} times that a card has expired, and ${most} did`,
    );
  });
}
