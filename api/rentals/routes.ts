import * as declared from './describe.js';
import * as costs from './describe-costs.js';
import { serve, type Handler } from '../http/serve.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import {
  giveUpRentalRequest,
  insertRentalRequest,
} from '../../adapters/postgres/requests/opening-requests.js';
import {
  findMeterReading,
  findRental,
  type RentalWithHealth,
} from '../../adapters/postgres/rentals/rental-reads.js';
import { listSshKeys } from '../../adapters/postgres/accounts/ssh-keys.js';
import { insertStopRequest } from '../../adapters/postgres/rentals/stop-requests.js';
import type { QuoteRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import { readUnderWalletLock } from '../../adapters/postgres/requests/last-word.js';
import { isId, type RentalId, type UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { Refusal } from '../../domain/refusal.js';
import { noSuchQuote } from '../../domain/rentals/quotes.js';
import { isFinal } from '../../domain/rentals/rental.js';
import { auditEvent, noteAudit } from '../accounts/audit-event.js';
import { callerOf, keyIdOf, onlyOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { refuseToEnd } from '../api-keys/request.js';
import { idempotencyKeyOf } from '../http/idempotency.js';
import { answerOpening } from '../http/opening.js';
import {
  findRentalOfQuote,
  getQuote,
  readQuoteBody,
  requestOf,
  withOffers,
  type Refused,
} from './by-quote.js';
import { getRental, noSuchRental } from './get-rental.js';
import { presentMeter, presentOpened, presentRental, presentStop } from './present.js';
import { insertSoftwareSecrets } from '../../adapters/postgres/rentals/software.js';
import { readRentalRequest, rentalsEndpoint, type ReadRequest } from './request.js';
import { findUntold } from './quotes.js';
import { keeperOf } from './software-fields.js';
import { awaitStop, startRental } from '../../adapters/temporal/open-rental.js';

/**
 * The routes of rentals (spec: POST /v1/rentals, GET /v1/rentals/:id; decision 15, "Stopping a rental", decision 16, "A
 * rental on read", and decision 17, "The meter on read").
 */
export function rentalRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.createRental, createRental(deps));
  serve(router, deps, declared.showRental, showRental(deps));
  serve(router, deps, declared.stopRental, stopRental(deps));
  serve(router, deps, costs.showMeter, showMeter(deps));
}

/**
 * Opens a rental. startRental (adapters/temporal/open-rental.ts) starts workflows/rental.ts. Its first activity is
 * activities/rentals/open-rental.ts, which takes the nine steps under the wallet's lock. Money moves there and nowhere
 * in here.
 */
function createRental(deps: ApiDeps): Handler<typeof declared.createRental> {
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const asked = await readCreate(ctx, deps, userId);
    const { id, body: answer } = await answerOpening(ctx, deps, {
      ...{ endpoint: rentalsEndpoint, userId, body: asked.body },
      hashKey: asked.secrets ? deps.settings.ownSoftware.installationKey : undefined,
      prefix: 'rent',
      ...{ idName: 'rentalId', lookAt: '/v1/rentals/:id' },
      start: (id, answerBefore) => startOpening(deps, asked, id, answerBefore),
      find: (id) => findOpened(deps.db, asked, id),
      findUnderLock: (id, answerBefore) =>
        readUnderWalletLock(deps.db, userId, answerBefore, deps.settings.lockWaitMs, (trx) =>
          findOpened(trx, asked, id),
        ),
      present: presentOpened,
      complete: (refusal) => withOffers(ctx, deps, asked, refusal),
    });
    // A quote's rental has the id of the request that took it.
    if (answer.id !== id) ctx.set('Idempotent-Replayed', 'true');
    await noteAudit(ctx, deps, { userId, kind: 'rental_created', entityId: answer.id });
    return answer;
  };
}

/** The request of a create: it says itself what it asks for, or names a quote that does. */
interface Create extends Refused {
  readonly body: unknown;
  /** Why it can't be made: it names an SSH key that is not there. */
  readonly missingKey?: Refusal | undefined;
  /** Of own software; a quote's are kept already. */
  readonly secrets: ReadRequest['secrets'];
}

async function readCreate(ctx: ApiContext, deps: ApiDeps, userId: UserId): Promise<Create> {
  const byQuote = readQuoteBody(ctx);
  const asker = { userId, apiKeyId: keyIdOf(ctx), onlyOf: onlyOf(ctx) };
  if (byQuote) {
    return { ...asker, body: byQuote, request: undefined, secrets: null, quoteId: byQuote.quoteId };
  }
  const listOwnKeys = () => listSshKeys(deps.db, userId);
  const read = await readRentalRequest(ctx, userId, listOwnKeys, keeperOf(deps));
  // With an Idempotency-Key, what stands under it comes first.
  if (read.missingKey && idempotencyKeyOf(ctx) === undefined) throw read.missingKey;
  return { ...asker, ...read, quoteId: undefined };
}

/**
 * Commits what is asked for, and starts the workflow. A quote that was taken needs none: its rental is the answer. What
 * a request can't have is decided by its row: an earlier one of the same id may have committed it while it still could.
 * @throws Refusal quote_not_found, key_not_found, software_unsupported, model_unavailable
 */
async function startOpening(
  { db, temporal }: ApiDeps,
  asked: Create,
  id: RentalId,
  answerBefore: Date,
): Promise<void> {
  const { userId, quoteId, apiKeyId } = asked;
  const quote = quoteId === undefined ? undefined : await getQuote(db, userId, quoteId);
  if (quote?.rental_id) {
    if (await findRental(db, userId, quote.rental_id, asked.onlyOf)) return;
    throw noSuchQuote();
  }
  const request = quote ? requestOf(quote, apiKeyId) : asked.request;
  if (!request) throw new Error('a create asks for something itself, or by a quote');
  const refusal = await refusalByNow(db, asked, request, quote);
  if (refusal) {
    if (await giveUpRentalRequest(db, id, request)) throw refusal;
  } else {
    await insertSoftwareSecrets(db, asked.secrets);
    await insertRentalRequest(db, id, request, answerBefore, quote?.id);
  }
  await startRental(temporal.client.workflow, id, request, answerBefore);
}

/**
 * Why a create can't be had by now: its SSH key is gone, its API key has a cap and another asked for the quote, or no
 * worker can start its own software.
 */
async function refusalByNow(
  db: Database,
  { onlyOf: key, missingKey }: Create,
  request: RentalRequest,
  quote: QuoteRow | undefined,
): Promise<Refusal | undefined> {
  const isOthers = quote !== undefined && key !== undefined && quote.api_key_id !== key;
  return isOthers ? noSuchQuote() : (missingKey ?? findUntold(db, request));
}

/** Finds what a create has opened: under its own id, or by its quote under that of another request. */
async function findOpened(
  db: Database | Transaction,
  { userId, quoteId, onlyOf: key }: Create,
  id: RentalId,
): Promise<RentalWithHealth | undefined> {
  const own = await findRental(db, userId, id, key);
  if (own || quoteId === undefined) return own;
  return findRentalOfQuote(db, { userId, onlyOf: key }, quoteId);
}

function showRental(deps: ApiDeps): Handler<typeof declared.showRental> {
  return async (ctx) => {
    return presentRental(await getRental(ctx, deps));
  };
}

/**
 * Stops a rental (decision 15, "Stopping a rental"). The request is a row of ours first, so the stop holds and the
 * money is right even when Temporal is away. Then the API waits for the workflow, so that the answer can name the
 * amounts.
 */
function stopRental(deps: ApiDeps): Handler<typeof declared.stopRental> {
  return async (ctx) => {
    const rental = await getRental(ctx, deps);
    refuseToEnd(ctx, rental);
    if (isFinal(rental.status)) throw alreadyStopped(rental);
    const asked = auditEvent(ctx, { userId: rental.user_id, kind: 'rental_stopped', entityId: rental.id });
    await deps.db.transaction(async (trx) => {
      await insertStopRequest(trx, rental.no, 'user');
      await insertAuditEvent(trx, asked);
    });
    ctx.state.passTurn?.();
    await waitForStop(ctx, deps, rental.id);
    return presentStop(await getRental(ctx, deps));
  };
}

async function waitForStop(ctx: ApiContext, deps: ApiDeps, rentalId: RentalId): Promise<void> {
  const { temporal, settings } = deps;
  try {
    if (!(await temporal.isReachable(settings.reachMs))) throw new Error('Temporal is not reachable');
    await temporal.within(settings.stopWaitMs, () => awaitStop(temporal.client.workflow, rentalId));
  } catch (error) {
    // The metering statement and the rental's own loop read stop requests too: the rental ends without this call.
    ctx.state.log.warn({ err: error, rentalId }, 'the workflow did not confirm the stop in time');
  }
}

/** The refusal of a second stop. */
export function alreadyStopped(rental: RentalRow): Refusal {
  const { status, finalChargedCents, refundedCents } = presentStop(rental);
  return new Refusal('already_stopped', 'This rental has already ended.', {
    status,
    finalChargedCents,
    refundedCents,
  });
}

function showMeter(deps: ApiDeps): Handler<typeof costs.showMeter> {
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const id = ctx.params['id'] ?? '';
    const reading =
      isId('rent', id) &&
      (await findMeterReading(deps.db, userId, id, deps.settings.meterShards, onlyOf(ctx)));
    if (!reading) throw noSuchRental();
    return presentMeter(reading);
  };
}
