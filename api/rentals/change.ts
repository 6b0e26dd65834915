import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { readClock } from '../../adapters/postgres/clock.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import {
  changeWords,
  findChange,
  giveUpChange,
  insertChange,
  refusalOfChange,
  type NewChange,
} from '../../adapters/postgres/rentals/changes.js';
import { endingOf } from '../../adapters/postgres/rentals/facts.js';
import { findRental, type RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { readUnderWalletLock, type LastWord } from '../../adapters/postgres/requests/last-word.js';
import { awaitChange } from '../../adapters/temporal/open-rental.js';
import type { ApiKeyId, ChangeId } from '../../domain/ids.js';
import { asksForLimits, mayEnd, refusalOfEnding, type AskedChange } from '../../domain/rentals/changes.js';
import { findOrderedAt } from '../../adapters/postgres/machines/attempts.js';
import { findTelemetryTold } from '../../adapters/postgres/machines/telemetry.js';
import { Refusal } from '../../domain/refusal.js';
import { guardMisfitsOf, toldOf } from '../../domain/rentals/idle-guard.js';
import { auditAddress, noteAudit } from '../accounts/audit-event.js';
import { refuseToEnd } from '../api-keys/request.js';
import { keyIdOf, type ApiDeps, type ApiRouter } from '../context.js';
import { answerOpening } from '../http/opening.js';
import { readChange, refuseTooLate } from './change-request.js';
import { presentRental } from './present.js';
import { refuseMisfits } from './quotes.js';
import { getRental } from './get-rental.js';

/** The route that changes a rental: PATCH /v1/rentals/:id (decision 105, "Changed rentals"). */
export function changeRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.changeRental, changeRental(deps));
}

/** @throws Refusal idle_guard_unsupported for a guard that the rental's upstream can't keep */
async function refuseGuard(
  { db }: ApiDeps,
  { id, provider_code: bought, telemetry }: RentalWithHealth,
  { idleGuard }: AskedChange,
): Promise<void> {
  if (!idleGuard) return;
  const providerCode = (await findOrderedAt(db, id)) ?? bought;
  const toldThere = await findTelemetryTold(db, providerCode);
  const told = toldOf({ telemetry }, toldThere);
  const misfits = guardMisfitsOf(idleGuard, told).map((misfit) => ({ ...misfit, providerCode }));
  if (misfits.length === 0) return;
  if (told || !toldThere) throw refuseMisfits(misfits);
  throw new Refusal(
    'idle_guard_unsupported',
    'This machine was rented without a reporter, so it can’t be guarded now.',
    { misfits },
  );
}

/** One request to change a rental. */
interface Changing {
  readonly deps: ApiDeps;
  readonly rental: RentalWithHealth;
  readonly asked: AskedChange;
  readonly apiKeyId: ApiKeyId | undefined;
  readonly clientAddress: string | undefined;
}

/**
 * Changes a rental. New limits are set by its workflow, whose activity is activities/rentals/change-rental.ts: it meters
 * first, under the wallet's lock. Words alone are one transaction here.
 */
function changeRental(deps: ApiDeps): Handler<typeof declared.changeRental> {
  return async (ctx) => {
    const { body, asked } = readChange(ctx);
    const rental = await getRental(ctx, deps);
    if (mayEnd(asked)) refuseToEnd(ctx, rental);
    await refuseGuard(deps, rental, asked);
    if (typeof asked.autoStopAt === 'string') {
      refuseTooLate(asked, rental.running_at, await readClock(deps.db));
    }
    const changing = { deps, rental, asked, apiKeyId: keyIdOf(ctx), clientAddress: auditAddress(ctx) };
    const ways = asksForLimits(asked) ? byWorkflow(changing) : byOurselves(changing);
    const { id: entityId, body: answer } = await answerOpening(ctx, deps, {
      endpoint: 'PATCH /v1/rentals/:id',
      userId: rental.user_id,
      body: { ...body, id: rental.id },
      prefix: 'chg',
      ...{ idName: 'changeId', lookAt: `/v1/rentals/${rental.id}` },
      ...ways,
      find: (id) => findChanged(deps.db, changing, id),
      present: presentRental,
    });
    await noteAudit(ctx, deps, { userId: rental.user_id, kind: 'rental_changed', entityId });
    return answer;
  };
}

interface Ways {
  readonly isOurs: boolean;
  start(id: ChangeId, answerBefore: Date): Promise<void>;
  findUnderLock(id: ChangeId, answerBefore: Date): Promise<LastWord<RentalWithHealth>>;
}

function byWorkflow(changing: Changing): Ways {
  const { deps, rental } = changing;
  return {
    isOurs: hasEnded(rental),
    async start(id, answerBefore) {
      await insertChange(deps.db, newChange(changing, id, answerBefore));
      if (await isOver(changing, id)) return;
      await awaitChange(deps.temporal.client.workflow, rental.id, id, answerBefore);
    },
    findUnderLock: (id, answerBefore) =>
      readUnderWalletLock(deps.db, rental.user_id, answerBefore, deps.settings.lockWaitMs, (trx) =>
        findChanged(trx, changing, id),
      ),
  };
}

/**
 * Tells whether a change of a rental that has ended was made before. Its workflow may be gone, and an end is never taken
 * back: so nobody need be asked. The order matters, because a change may itself end the rental.
 * @throws Refusal already_stopped or rental_ending when the change was not made, and never will be
 */
async function isOver({ deps, rental }: Changing, id: ChangeId): Promise<boolean> {
  const now = await findRental(deps.db, rental.user_id, rental.id);
  if (now === undefined || !hasEnded(now)) return false;
  const change = await findChange(deps.db, id);
  if (change !== undefined && change.answered_at !== null) return true;
  const refusal = refusalOfEnding(endingOf(now), false, new Date());
  if (refusal) throw refusal;
  return false;
}

function hasEnded({ status }: RentalWithHealth): boolean {
  return status !== 'provisioning' && status !== 'running';
}

function byOurselves(changing: Changing): Ways {
  const { deps, clientAddress } = changing;
  return {
    isOurs: true,
    async start(id, answerBefore) {
      const refusal = await changeWords(deps.db, newChange(changing, id, answerBefore), clientAddress);
      if (refusal) throw refusal;
    },
    async findUnderLock(id, answerBefore) {
      const isMade = await giveUpChange(deps.db, newChange(changing, id, answerBefore));
      const row = isMade && (await findChanged(deps.db, changing, id));
      return row ? { kind: 'there', row } : { kind: 'never' };
    },
  };
}

function newChange({ rental, asked, apiKeyId }: Changing, id: ChangeId, answerBefore: Date): NewChange {
  return { id, rental, asked, apiKeyId, answerBefore };
}

/** Finds the rental, once the change is made. @throws the Refusal that it was answered with */
async function findChanged(
  db: Database | Transaction,
  { rental }: Changing,
  id: ChangeId,
): Promise<RentalWithHealth | undefined> {
  const change = await findChange(db, id);
  if (change === undefined || change.answered_at === null) return undefined;
  const refusal = refusalOfChange(change);
  if (refusal) throw refusal;
  return findRental(db, rental.user_id, rental.id);
}
