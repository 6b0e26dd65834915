import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { findReceipt } from '../../adapters/postgres/payments/receipts.js';
import { readBillingDetails, saveBillingDetails } from '../../adapters/postgres/payments/billing-details.js';
import { createExactCount, type Standing } from '../../adapters/postgres/requests/request-counts.js';
import { receiptPdf } from '../../adapters/receipts/receipt-pdf.js';
import { MINUTE } from '../../domain/durations.js';
import { isId } from '../../domain/ids.js';
import { receiptFileName, type BillingDetails, type Receipt } from '../../domain/payments/receipt.js';
import { Refusal } from '../../domain/refusal.js';
import { auditEvent } from '../accounts/audit-event.js';
import { callerOf, sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { register, serve, type Handler } from '../http/serve.js';
import type { Step } from '../http/middleware/session.js';
import { readBody } from '../http/validation.js';
import * as declared from './describe-receipts.js';

/** A receipt takes as much of a processor as hundreds of other reads. */
const RECEIPTS_PER_MINUTE = 30;

/** Receipts, and whom they are made out to (decision 148, "Receipts and buyers"). */
export function receiptRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showBillingDetails, async (ctx) =>
    readBillingDetails(deps.db, callerOf(ctx).userId),
  );
  serve(router, deps, declared.putBillingDetails, putDetails(deps));
  register(router, deps, declared.downloadReceipt, download(deps));
}

function putDetails(deps: ApiDeps): Handler<typeof declared.putBillingDetails> {
  return async (ctx) => {
    const details = readDetails(ctx);
    const { userId } = sessionOf(ctx);
    await deps.db.transaction(async (trx) => {
      await saveBillingDetails(trx, userId, details);
      // What was said stays out of a trail that is for good: it is a person's name and address.
      await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'billing_details_changed' }));
    });
    return details;
  };
}

/** Reads details that are to be stored: a text that says nothing is none. */
export function readDetails(ctx: ApiContext): BillingDetails {
  const { name, address, taxId } = readBody(ctx, declared.billingDetailsSchema);
  const said = (text: string | null): string | null => ((text?.trim() ?? '') === '' ? null : text);
  return { name: said(name), address: said(address), taxId: said(taxId) };
}

function download({ db, settings }: ApiDeps): Step {
  const count = createExactCount(db, 'receipts', RECEIPTS_PER_MINUTE, MINUTE);
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const topupId = ctx.params['id'] ?? '';
    const receipt = isId('top', topupId)
      ? await findReceipt(db, { userId, topupId }, settings.seller)
      : undefined;
    // Making the file is the work: an id of nothing uses up none of it.
    if (receipt) refuseWhenTooMany(await count.count(userId));
    await sendReceipt(ctx, receipt);
  };
}

function refuseWhenTooMany({ allowed, resetMs }: Standing): void {
  if (allowed) return;
  throw new Refusal('rate_limited', 'You downloaded too many receipts. Try again in a minute.', {
    retryAfterSeconds: Math.ceil(resetMs / 1_000),
  });
}

/** Answers with the file of a receipt. @throws Refusal topup_not_found where there is none */
export async function sendReceipt(ctx: ApiContext, receipt: Receipt | undefined): Promise<void> {
  if (!receipt) throw new Refusal('topup_not_found', 'There is no receipt: no such top-up was paid.');
  ctx.type = 'application/pdf';
  ctx.attachment(receiptFileName(receipt));
  ctx.body = await receiptPdf(receipt);
}
