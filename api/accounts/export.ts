import type { Readable } from 'node:stream';
import pLimit from 'p-limit';
import { listIdentities } from '../../adapters/postgres/accounts/identities.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { listKeptMails } from '../../adapters/postgres/notices/kept-mails.js';
import { findReceipt } from '../../adapters/postgres/payments/receipts.js';
import { takeLease } from '../../adapters/postgres/requests/leases.js';
import { createExactCount, type Standing } from '../../adapters/postgres/requests/request-counts.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import { zipOf } from '../../adapters/zip.js';
import { exportRunning } from '../../domain/accounts/export.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { HOUR } from '../../domain/durations.js';
import { exportMail } from '../../domain/mails/sign-in.js';
import { Refusal } from '../../domain/refusal.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { asking, type Ask } from '../http/ask.js';
import { refuseWhenRestored } from '../http/middleware/restored.js';
import type { Step } from '../http/middleware/session.js';
import { register } from '../http/serve.js';
import { auditEvent } from './audit-event.js';
import { exportAccount } from './describe-export.js';
import { filesOf, type ExportSource } from './export-files.js';
import { refuseWhenNotFresh } from './fresh-proof.js';

/** Everything that the service holds about a user, as one archive (decision 184, "One archive"). */
export function exportRoutes(router: ApiRouter, deps: ApiDeps): void {
  register(router, deps, exportAccount, sendExport(router, deps));
}

const { exportsPerHour, exportLeaseMs } = accountLimits;

function sendExport(router: ApiRouter, deps: ApiDeps): Step {
  const { db, settings } = deps;
  // All exports that are under way take no more connections than one caller.
  const atOnce = pLimit(settings.requestsAtOnce);
  const begun = createExactCount(db, 'exports', exportsPerHour, HOUR);
  return async (ctx) => {
    refuseUnlessAsked(ctx);
    const { userId, email } = sessionOf(ctx);
    if (ctx.method === 'HEAD') {
      ctx.status = 200;
      ctx.type = 'zip';
      return;
    }
    await refuseWhenRestored(db);
    const lease = await takeLease(db, `export:${userId}`, exportLeaseMs);
    if (!lease) throw exportRunning();
    // Whoever has gone while it waited needs no page.
    const read = <T>(page: () => Promise<T>): Promise<T> =>
      atOnce(() => (ctx.res.closed ? Promise.reject(new Error('its reader has gone')) : page()));
    const ask = asking(router, ctx);
    const source: ExportSource = {
      begun: () =>
        read(async () => {
          await begun.count(userId);
          await tellOfExport(ctx, deps);
        }),
      ask: ((operation, asked) => read(() => ask(operation, asked))) satisfies Ask,
      mails: (before, limit) => read(() => listKeptMails(db, email, before, limit)),
      receipt: (topupId) => read(() => findReceipt(db, { userId, topupId }, settings.seller)),
      identities: () => read(() => listIdentities(db, userId)),
      ended: () => lease.release(),
    };
    try {
      refuseWhenTooMany(await begun.look(userId));
      sendArchive(ctx, source).once('close', () => void lease.release());
    } catch (error) {
      await lease.release();
      throw error;
    }
  };
}

/**
 * Refuses whom an export is not given to. A browser brings its session along where a foreign page leads it here, and its
 * user would be mailed that somebody took their data.
 * @throws Refusal forbidden, fresh_sign_in_required
 */
export function refuseUnlessAsked(ctx: ApiContext): void {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site') {
    throw new Refusal(
      'forbidden',
      'Pages of other sites can’t start an export. Open the link from your account.',
    );
  }
  refuseWhenNotFresh(ctx);
}

/** Answers with the archive, as fast as its reader takes it. @returns the archive, which is closed where its reader goes */
export function sendArchive(ctx: ApiContext, source: ExportSource): Readable {
  const at = new Date();
  const archive = zipOf(filesOf(source, at));
  archive.once('error', (err) => {
    // A reader who goes ends it with an error as well.
    if (!ctx.res.closed) ctx.state.log.error({ err }, 'an export failed');
  });
  ctx.type = 'zip';
  ctx.attachment(`account-${at.toISOString().slice(0, 10)}.zip`);
  ctx.body = archive;
  return archive;
}

function refuseWhenTooMany({ allowed, resetMs }: Standing): void {
  if (allowed) return;
  const retryAfterSeconds = Math.ceil(resetMs / 1_000);
  throw new Refusal(
    'rate_limited',
    `You began ${exportsPerHour} exports within an hour. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}

/** Writes down that somebody who is signed in takes everything along, and mails it to whose it is. */
async function tellOfExport(ctx: ApiContext, { db }: ApiDeps): Promise<void> {
  const { userId } = sessionOf(ctx);
  await db.transaction(async (trx) => {
    await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'account_exported' }));
    await mailUser(trx, userId, { kind: 'account_exported', userId, at: new Date() }, exportMail());
  });
}
