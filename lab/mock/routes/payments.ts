import * as declared from '../../../api/topups/describe.js';
import { keyIdOf, onlyOf, type ApiRouter } from '../../../api/context.js';
import { pageOf, readCursor } from '../../../api/http/cursor.js';
import {
  autoTopupSchema,
  autoTopupWarnings,
  presentAutoTopup,
  refuseWhenCapIdle,
} from '../../../api/topups/auto-topup-shapes.js';
import { refuseWhenCapped } from '../../../api/spending/capped.js';
import { presentCard } from '../../../api/topups/card-shapes.js';
import { isTopupKey, presentCheckout, presentTopup } from '../../../api/topups/shapes.js';
import { readBody, readQuery } from '../../../api/http/validation.js';
import { refuseWhenClosing } from '../account.js';
import { saveAutoTopup } from '../auto-topup-settings.js';
import { topUpWhenLow } from '../auto-topup.js';
import { removeCard, saveCard } from '../cards.js';
import { answerOnce, madeUnder } from '../idempotency.js';
import { readBurn } from '../burn.js';
import { cardHeader, choiceOf } from '../on-demand.js';
import { newProcessorId } from '../processor-ids.js';
import { refusalByCode } from '../refuse.js';
import { serveMock, type MockHandler } from '../serve.js';
import { note } from '../signed-in.js';
import { beginTopup } from '../topups.js';
import type { World } from '../world.js';
import { mockPublishableKey } from './wallet.js';

const CHECKOUT = 'POST /v1/billing/checkout';

/** Putting money in: pages that lead straight to success, a card that saves itself, auto-topup. */
export function paymentRoutes(router: ApiRouter, world: World): void {
  topupRoutes(router, world);
  cardRoutes(router, world);
  serveMock(router, world, declared.showAutoTopup, (_ctx, { autoTopup }) => presentAutoTopup(autoTopup));
  serveMock(router, world, declared.putAutoTopup, putAutoTopup(world));
}

function topupRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.createCheckout, (ctx, account) => {
    const body = readBody(ctx, declared.checkoutSchema);
    return answerOnce(ctx, account, CHECKOUT, body, () => {
      refuseWhenClosing(account);
      const topup = beginTopup(world, account, body.amountCents, keyIdOf(ctx) !== undefined);
      note(world, ctx, account, 'checkout_begun', topup.id);
      return presentCheckout(topup);
    });
  });
  serveMock(router, world, declared.listTopups, (ctx, account) => {
    const { idempotencyKey, cursor, pageSize } = readQuery(ctx, declared.topupsQuery);
    if (idempotencyKey === undefined) refuseWhenCapped(ctx);
    const before = readCursor(cursor, isTopupKey)?.[0] ?? 'top_~';
    const isMade = madeUnder(ctx, account, CHECKOUT, idempotencyKey);
    const rows = account.topups
      .filter(({ id }) => id < before && isMade(id))
      .toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
    return { topups: page.map(presentTopup), nextCursor };
  });
  serveMock(router, world, declared.showTopup, (ctx, { topups, audit }) => {
    const topup = topups.find(({ id }) => id === ctx.params['id']);
    const key = onlyOf(ctx);
    const isSeen =
      key === undefined || audit.some(({ entity_id: id, api_key_id: by }) => id === topup?.id && by === key);
    if (!topup || !isSeen) throw refusalByCode('topup_not_found');
    return presentTopup(topup);
  });
}

function cardRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.beginCardSetup, (ctx, account) => {
    refuseWhenClosing(account);
    const declines = choiceOf(ctx, cardHeader, ['pays', 'declines']) === 'declines';
    // No processor's form can confirm the card, so it confirms itself.
    world.after(world.durations.cardMs, () => {
      saveCard(world, account, declines);
      note(world, ctx, account, 'card_saved', account.card?.row.pm_id);
    });
    const setupId = newProcessorId('seti');
    return {
      clientSecret: `${setupId}_secret_mock`,
      publishableKey: mockPublishableKey,
      pageUrl: `${world.url}/mock/setup/${setupId}`,
    };
  });
  serveMock(router, world, declared.showCard, (_ctx, { card }) => presentCard(card?.row));
  serveMock(router, world, declared.removeCard, (ctx, account) => {
    const removed = removeCard(world, account);
    if (removed !== undefined) note(world, ctx, account, 'card_removed', removed);
    return { ok: true };
  });
}

function putAutoTopup(world: World): MockHandler<typeof declared.putAutoTopup> {
  return (ctx, account) => {
    const settings = readBody(ctx, autoTopupSchema);
    refuseWhenCapIdle(settings, account.autoTopup);
    if (settings.enabled) refuseWhenClosing(account);
    if (settings.enabled && !account.card) throw refusalByCode('no_saved_card');
    const row = saveAutoTopup(world, account, settings);
    note(world, ctx, account, 'auto_topup_changed');
    const answer = {
      ...presentAutoTopup(row),
      warnings: autoTopupWarnings(row, readBurn(account).burnPerHourCents),
    };
    topUpWhenLow(world, account);
    return answer;
  };
}
