import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { findTopupOfUser, listTopups as listTopupRows } from '../../adapters/postgres/payments/topups.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { readUnderTopupLock } from '../../adapters/postgres/requests/last-word.js';
import { findTopupRequest, insertTopupRequest } from '../../adapters/postgres/requests/opening-requests.js';
import { isId, type TopupId, type UserId } from '../../domain/ids.js';
import type { TopupRequest } from '../../domain/payments/topup.js';
import { Refusal } from '../../domain/refusal.js';
import { noteAudit } from '../accounts/audit-event.js';
import { callerOf, keyIdOf, onlyOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { pageOf, readCursor } from '../http/cursor.js';
import { onlyMade } from '../http/idempotency.js';
import { answerOpening } from '../http/opening.js';
import { countCardTries } from './card-tries.js';
import { isTopupKey, presentCheckout, presentTopup } from './shapes.js';
import { openTopup } from '../../adapters/temporal/open-topup.js';
import { readBody, readQuery } from '../http/validation.js';
import { refuseWhenCapped } from '../spending/capped.js';

const ENDPOINT = 'POST /v1/billing/checkout';

/** The route that puts money into the wallet (spec: POST /v1/billing/checkout; decision 32, "Checkout and credit"). */
export function checkoutRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.createCheckout, createCheckout(deps));
  serve(router, deps, declared.listTopups, listTopups(deps));
  serve(router, deps, declared.showTopup, showTopup(deps));
}

/**
 * Opens a top-up. openTopup (adapters/temporal/open-topup.ts) starts workflows/topup.ts, which charges the saved card
 * or opens the payment page.
 */
function createCheckout(deps: ApiDeps): Handler<typeof declared.createCheckout> {
  const countTry = countCardTries(deps);
  const beginning = new Map<TopupId, Promise<void>>();
  const begin = async (ctx: ApiContext, id: TopupId, request: TopupRequest, answerBefore: Date) => {
    if ((await findTopupRequest(deps.db, id)) !== undefined) return;
    await countTry(ctx, request.userId);
    await insertTopupRequest(deps.db, id, request, answerBefore);
  };
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const body = readBody(ctx, declared.checkoutSchema);
    if (!deps.settings.billing.enabled) {
      throw new Refusal('billing_disabled', 'Payments are turned off here. Ask support how to pay.');
    }
    // A second call while a charge of the same amount is under way gets the answer of that charge (decision 32,
    // "Checkout and credit").
    let answeredBy: TopupId | undefined;
    const { id: topupId, body: answer } = await answerOpening(ctx, deps, {
      endpoint: ENDPOINT,
      userId,
      body,
      prefix: 'top',
      ...{ idName: 'topupId', lookAt: '/v1/billing/topups/:id' },
      start: async (id, answerBefore) => {
        const apiKeyId = keyIdOf(ctx);
        const request = {
          userId,
          amountCents: body.amountCents,
          ...(apiKeyId !== undefined && { apiKeyId }),
        };
        // However often it is sent, one request tries a card once: its twins wait for the one count.
        const begun = beginning.get(id) ?? begin(ctx, id, request, answerBefore);
        beginning.set(id, begun);
        await begun.finally(() => beginning.delete(id));
        answeredBy = await openTopup(deps.temporal.client.workflow, id, request, answerBefore);
      },
      find: async (id, isOver) => {
        const row = await findOpenTopup(deps.db, userId, answeredBy ?? id);
        // Not answered with "processing" while the outcome may come in time: no mail would tell it.
        return isOver || row?.status !== 'processing' ? row : undefined;
      },
      findUnderLock: (id, answerBefore) =>
        readUnderTopupLock(deps.db, answeredBy ?? id, answerBefore, deps.settings.lockWaitMs, (trx) =>
          findOpenOrSent(trx, userId, answeredBy ?? id),
        ),
      present: presentCheckout,
    });
    await noteAudit(ctx, deps, { userId, kind: 'checkout_begun', entityId: answeredBy ?? topupId });
    return answer;
  };
}

/**
 * Finds a top-up that answers its request: its payment page exists, or the charge of the saved card has left. The
 * charge's outcome may be known, or not yet.
 * @throws Refusal card_declined
 */
async function findOpenTopup(
  db: Database | Transaction,
  userId: UserId,
  id: TopupId,
): Promise<TopupRow | undefined> {
  const row = await findTopupOfUser(db, userId, id);
  if (row?.status === 'failed' && row.decline_code !== null) {
    const message = 'The bank declined the card. Use another card.';
    throw new Refusal('card_declined', message, { declineCode: row.decline_code, topupId: id });
  }
  if (row === undefined || row.status === 'creating' || row.status === 'failed') return undefined;
  return row;
}

/** Takes the last look: what was sent may yet become a page or a charge (decision 82, "Honest checkout failures"). */
async function findOpenOrSent(
  trx: Transaction,
  userId: UserId,
  id: TopupId,
): Promise<TopupRow | 'sent' | undefined> {
  const open = await findOpenTopup(trx, userId, id);
  if (open !== undefined) return open;
  const row = await findTopupOfUser(trx, userId, id);
  const isSent = row !== undefined && (row.page_asked_at ?? row.charge_sent_at) !== null;
  return isSent && row.closed_at === null ? 'sent' : undefined;
}

function listTopups(deps: ApiDeps): Handler<typeof declared.listTopups> {
  return async (ctx) => {
    const { idempotencyKey, cursor, pageSize } = readQuery(ctx, declared.topupsQuery);
    const before = readCursor(cursor, isTopupKey)?.[0];
    if (idempotencyKey === undefined) refuseWhenCapped(ctx);
    const only = await onlyMade(ctx, deps.db, ENDPOINT, idempotencyKey);
    const rows = await listTopupRows(deps.db, callerOf(ctx).userId, before, pageSize + 1, only);
    const { page, nextCursor } = pageOf(rows, pageSize, (row) => [row.id]);
    return { topups: page.map(presentTopup), nextCursor };
  };
}

function showTopup(deps: ApiDeps): Handler<typeof declared.showTopup> {
  return async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const row = isId('top', id) && (await findTopupOfUser(deps.db, callerOf(ctx).userId, id));
    const key = onlyOf(ctx);
    const isSeen =
      row && (key === undefined || (await findTopupRequest(deps.db, row.id))?.api_key_id === key);
    if (!isSeen) {
      throw new Refusal('topup_not_found', 'You have no such top-up: GET /v1/billing/topups lists yours.');
    }
    return presentTopup(row);
  };
}
