import * as declared from '../../../api/rentals/describe.js';
import * as costs from '../../../api/rentals/describe-costs.js';
import { keepRentalAlive } from '../../../api/rentals/describe-keep-alive.js';
import { listRentals } from '../../../api/rentals/describe-list.js';
import { showTelemetry } from '../../../api/rentals/describe-telemetry.js';
import { showEndpointToken } from '../../../api/rentals/describe-token.js';
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
import { serveMock, type MockHandler } from '../serve.js';
import { note } from '../signed-in.js';
import type { World } from '../world.js';

/** Renting machines: they run after about two seconds, and are metered each second. */
export function rentalRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.createRental, createRental(world));
  serveMock(router, world, listRentals, (ctx, account) => listed(world, ctx, account));
  serveMock(router, world, declared.showRental, (ctx, account) =>
    presentRental(readNow(world, getRental(ctx, account).row)),
  );
  serveMock(router, world, declared.changeRental, change(world));
  serveMock(router, world, declared.stopRental, stop(world));
  serveMock(router, world, keepRentalAlive, keepAlive(world));
  serveMock(router, world, costs.showMeter, (ctx, account) =>
    presentMeter(readMeter(world, getRental(ctx, account))),
  );
  serveMock(router, world, showTelemetry, (ctx, account) => {
    const asked = readTelemetryQuery(ctx);
    const rental = getRental(ctx, account);
    const window = windowOf(rental.row, asked, world.now());
    return presentTelemetry(rental.row, window, telemetryHoursOf(rental, world.now()));
  });
  serveMock(router, world, showEndpointToken, (ctx, account) => {
    const { row } = getRental(ctx, account);
    refuseToken(ctx, row);
    return { token: notebookTokenOf(world.tokenKey, row.id) };
  });
  serveMock(router, world, costs.showCharges, (ctx, account) => {
    const { interval } = readQuery(ctx, costs.chargesQuery);
    const { row } = getRental(ctx, account);
    const entries = account.wallet.entries.filter(({ rentalId }) => rentalId === row.id);
    return presentCharges(row, interval, bucketsOf(entries, interval));
  });
}

function createRental(world: World): MockHandler<typeof declared.createRental> {
  return async (ctx, account) => {
    const byQuote = readQuoteBody(ctx);
    if (byQuote) return takeQuote(world, ctx, account, byQuote);
    const listOwnKeys = () => Promise.resolve(account.sshKeys);
    const { body, request, missingKey } = await readRentalRequest(
      ctx,
      account.user.id,
      listOwnKeys,
      forgetting,
    );
    const fate = choiceOf(ctx, rentalHeader, rentalFates);
    return answerOnce(ctx, account, rentalsEndpoint, body, () => {
      if (missingKey) throw missingKey;
      const { row } = openRental(world, account, request, fate);
      note(world, ctx, account, 'rental_created', row.id);
      return presentOpened(row);
    });
  };
}

function takeQuote(world: World, ctx: ApiContext, account: Account, body: QuoteBody) {
  const fate = choiceOf(ctx, rentalHeader, rentalFates);
  return answerOnce(ctx, account, rentalsEndpoint, body, () => {
    const { rental, isTaken } = openByQuote(world, account, body.quoteId, fate, keyIdOf(ctx));
    if (isTaken) ctx.set('Idempotent-Replayed', 'true');
    else note(world, ctx, account, 'rental_created', rental.row.id);
    return presentOpened(rental.row);
  });
}

/** Changes a rental, once per Idempotency-Key. A limit that is reached by now ends it at once, as the service does. */
function change(world: World): MockHandler<typeof declared.changeRental> {
  return (ctx, account) => {
    const { body, asked } = readChange(ctx);
    const rental = getRental(ctx, account);
    const { row } = rental;
    if (mayEnd(asked)) refuseToEnd(ctx, row);
    refuseGuard(row, asked);
    refuseTooLate(asked, row.running_at, world.now());
    return answerOnce(ctx, account, 'PATCH /v1/rentals/:id', { ...body, id: row.id }, () => {
      const id = newId('chg');
      note(world, ctx, account, 'rental_changed', id, changeRental(world, account, rental, { id, asked }));
      return presentRental(readNow(world, row));
    });
  };
}

function stop(world: World): MockHandler<typeof declared.stopRental> {
  return (ctx, account) => {
    const { row } = getRental(ctx, account);
    refuseToEnd(ctx, row);
    if (isFinal(row.status)) {
      const { status, finalChargedCents, refundedCents } = presentStop(row);
      throw refusalByCode('already_stopped', { status, finalChargedCents, refundedCents });
    }
    stopRental(world, account, row);
    note(world, ctx, account, 'rental_stopped', row.id);
    return presentStop(row);
  };
}

function refuseGuard({ provider_code: providerCode }: MockRental['row'], { idleGuard }: AskedChange): void {
  const misfits = guardMisfitsOf(idleGuard ?? undefined, mockTelemetry);
  if (misfits.length > 0) throw refuseMisfits(misfits.map((misfit) => ({ ...misfit, providerCode })));
}

function keepAlive(world: World): MockHandler<typeof keepRentalAlive> {
  return (ctx, account) => {
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
    return presentRental(readNow(world, row));
  };
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
