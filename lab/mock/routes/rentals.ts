import { chargesQuery } from '../../../api/rentals/describe-costs.js';
import type { ChargeBucket, ChargeInterval } from '../../../adapters/postgres/ledger/rental-charges.js';
import type { LedgerEntry } from '../../../adapters/postgres/ledger/ledger-reads.js';
import { notebookTokenOf } from '../../../adapters/notebook-token.js';
import { newId } from '../../../adapters/ids.js';
import { endingOf } from '../../../adapters/postgres/rentals/facts.js';
import { boundUntil, readUntil } from '../../../api/rentals/keep-alive.js';
import { refuseMisfits } from '../../../api/rentals/quotes.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import { guardMisfitsOf } from '../../../domain/rentals/idle-guard.js';
import { refuseToEnd } from '../../../api/api-keys/request.js';
import { keyIdOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { readChange, refuseTooLate } from '../../../api/rentals/change-request.js';
import { refuseToken } from '../../../api/rentals/endpoint-token.js';
import { presentCharges } from '../../../api/rentals/charges.js';
import { readQuoteBody, type QuoteBody } from '../../../api/rentals/by-quote.js';
import { presentMeter, presentOpened, presentRental, presentStop } from '../../../api/rentals/present.js';
import { presentTelemetry, readTelemetryQuery, windowOf } from '../../../api/rentals/telemetry.js';
import { readRentalRequest, rentalsEndpoint } from '../../../api/rentals/request.js';
import { readQuery } from '../../../api/http/validation.js';
import { mayEnd, refusalOfEnding, type AskedChange } from '../../../domain/rentals/changes.js';
import { isFinal } from '../../../domain/rentals/rental.js';
import { rentalFates, type Account, type MockRental } from '../account.js';
import { answerOnce } from '../idempotency.js';
import { readMeter } from '../meter.js';
import { choiceOf, rentalHeader } from '../on-demand.js';
import { refusalByCode } from '../refuse.js';
import { openByQuote } from '../quotes.js';
import { changeRental } from '../change.js';
import { openRental, stopRental } from '../rentals.js';
import { listed, readNow, rentalsFor } from '../rental-list.js';
import { forgetting } from '../software.js';
import { mockTelemetry, telemetryHoursOf } from '../telemetry.js';
import { note, signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** Renting machines: they run after about two seconds, and are metered each second. */
export function rentalRoutes(router: ApiRouter, world: World): void {
  router.post('/v1/rentals', createRental(world));
  router.get(
    '/v1/rentals',
    signedIn(world, async (ctx, account) => {
      ctx.body = await listed(world, ctx, account);
    }),
  );
  router.get(
    '/v1/rentals/:id',
    signedIn(world, (ctx, account) => {
      ctx.body = presentRental(readNow(world, getRental(ctx, account).row));
    }),
  );
  router.patch('/v1/rentals/:id', change(world));
  router.post('/v1/rentals/:id/stop', stop(world));
  router.post('/v1/rentals/:id/keep-alive', keepAlive(world));
  router.get(
    '/v1/rentals/:id/meter',
    signedIn(world, (ctx, account) => {
      ctx.body = presentMeter(readMeter(world, getRental(ctx, account)));
    }),
  );
  router.get(
    '/v1/rentals/:id/telemetry',
    signedIn(world, (ctx, account) => {
      const asked = readTelemetryQuery(ctx);
      const { row } = getRental(ctx, account);
      const window = windowOf(row, asked, world.now());
      ctx.body = presentTelemetry(row, window, telemetryHoursOf(row, world.now()));
    }),
  );
  router.get(
    '/v1/rentals/:id/endpoints/:name/token',
    signedIn(world, (ctx, account) => {
      const { row } = getRental(ctx, account);
      refuseToken(ctx, row);
      ctx.body = { token: notebookTokenOf(world.tokenKey, row.id) };
    }),
  );
  router.get(
    '/v1/rentals/:id/charges',
    signedIn(world, (ctx, account) => {
      const { interval } = readQuery(ctx, chargesQuery);
      const { row } = getRental(ctx, account);
      const entries = account.wallet.entries.filter(({ rentalId }) => rentalId === row.id);
      ctx.body = presentCharges(row, interval, bucketsOf(entries, interval));
    }),
  );
}

function createRental(world: World) {
  return signedIn(world, async (ctx, account) => {
    const byQuote = readQuoteBody(ctx);
    if (byQuote) {
      takeQuote(world, ctx, account, byQuote);
      return;
    }
    const listOwnKeys = () => Promise.resolve(account.sshKeys);
    const { body, request, missingKey } = await readRentalRequest(
      ctx,
      account.user.id,
      listOwnKeys,
      forgetting,
    );
    const fate = choiceOf(ctx, rentalHeader, rentalFates);
    answerOnce(ctx, account, rentalsEndpoint, body, () => {
      if (missingKey) throw missingKey;
      const { row } = openRental(world, account, request, fate);
      note(world, ctx, account, 'rental_created', row.id);
      return presentOpened(row);
    });
  });
}

function takeQuote(world: World, ctx: ApiContext, account: Account, body: QuoteBody): void {
  const fate = choiceOf(ctx, rentalHeader, rentalFates);
  answerOnce(ctx, account, rentalsEndpoint, body, () => {
    const { rental, isTaken } = openByQuote(world, account, body.quoteId, fate, keyIdOf(ctx));
    if (isTaken) ctx.set('Idempotent-Replayed', 'true');
    else note(world, ctx, account, 'rental_created', rental.row.id);
    return presentOpened(rental.row);
  });
}

/** Changes a rental, once per Idempotency-Key. A limit that is reached by now ends it at once, as the service does. */
function change(world: World) {
  return signedIn(world, (ctx, account) => {
    const { body, asked } = readChange(ctx);
    const rental = getRental(ctx, account);
    const { row } = rental;
    if (mayEnd(asked)) refuseToEnd(ctx, row);
    refuseGuard(row, asked);
    refuseTooLate(asked, row.running_at, world.now());
    answerOnce(ctx, account, 'PATCH /v1/rentals/:id', { ...body, id: row.id }, () => {
      const id = newId('chg');
      note(world, ctx, account, 'rental_changed', id, changeRental(world, account, rental, { id, asked }));
      return presentRental(readNow(world, row));
    });
  });
}

function stop(world: World) {
  return signedIn(world, (ctx, account) => {
    const { row } = getRental(ctx, account);
    refuseToEnd(ctx, row);
    if (isFinal(row.status)) {
      const { status, finalChargedCents, refundedCents } = presentStop(row);
      throw refusalByCode('already_stopped', { status, finalChargedCents, refundedCents });
    }
    stopRental(world, account, row);
    note(world, ctx, account, 'rental_stopped', row.id);
    ctx.body = presentStop(row);
  });
}

function refuseGuard({ provider_code: providerCode }: MockRental['row'], { idleGuard }: AskedChange): void {
  const misfits = guardMisfitsOf(idleGuard ?? undefined, mockTelemetry);
  if (misfits.length > 0) throw refuseMisfits(misfits.map((misfit) => ({ ...misfit, providerCode })));
}

function keepAlive(world: World) {
  return signedIn(world, (ctx, account) => {
    const asked = readUntil(ctx);
    const { row } = getRental(ctx, account);
    const until = boundUntil(asked, world.now());
    const refusal = refusalOfEnding(endingOf(row), false, world.now());
    if (refusal) throw refusal;
    if (row.idle_guard === null) throw refusalByCode('no_idle_guard');
    const kept = Math.max(
      until.getTime(),
      Date.parse(row.idle_guard.keep_alive_until ?? until.toISOString()),
    );
    const keptUntil = new Date(kept).toISOString();
    row.idle_guard = { ...row.idle_guard, keep_alive_until: keptUntil };
    world.events.tell(account.user.id, 'rental.kept_alive', row.id, { until: keptUntil, by: 'renter' });
    ctx.body = presentRental(readNow(world, row));
  });
}

function getRental(ctx: ApiContext, account: Account): MockRental {
  const rental = rentalsFor(ctx, account).find(({ row }) => row.id === ctx.params['id']);
  if (!rental) throw refusalByCode('rental_not_found');
  return rental;
}

/** By hour or day of UTC, oldest first. */
function bucketsOf(entries: readonly LedgerEntry[], interval: ChargeInterval): ChargeBucket[] {
  const stepMs = interval === 'hour' ? HOUR : DAY;
  const buckets = new Map<number, ChargeBucket>();
  for (const { createdAt, amountCents } of entries) {
    const fromMs = Math.floor(createdAt.getTime() / stepMs) * stepMs;
    const sums = buckets.get(fromMs) ?? { chargedCents: 0, refundedCents: 0, entries: 0 };
    buckets.set(fromMs, {
      from: new Date(fromMs),
      chargedCents: sums.chargedCents + Math.max(0, -amountCents),
      refundedCents: sums.refundedCents + Math.max(0, amountCents),
      entries: sums.entries + 1,
    });
  }
  return [...buckets.values()];
}
