import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import {
  findAutoTopup,
  readBurnPerHour,
  saveAutoTopup,
} from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { AutoTopupRow } from '../../adapters/postgres/rows/tables.js';
import { signalLook } from '../../adapters/temporal/signal-look.js';
import type { UserId } from '../../domain/ids.js';
import { autoTopupWorkflowId } from '../../domain/payments/processor-routes.js';
import { Refusal } from '../../domain/refusal.js';
import { auditAddress } from '../accounts/audit-event.js';
import { callerOf, sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import {
  autoTopupSchema,
  autoTopupWarnings,
  presentAutoTopup,
  refuseWhenCapIdle,
} from './auto-topup-shapes.js';
import { readBody } from '../http/validation.js';
import { countCardTries } from './card-tries.js';

/**
 * Auto-topup (spec: PUT /v1/billing/auto-topup; decision 33, "Removal of a card", and decision 34, "Trigger of
 * auto-topup").
 */
export function autoTopupRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showAutoTopup, showSettings(deps));
  serve(router, deps, declared.putAutoTopup, putSettings(deps));
}

const SIGNAL_LIMIT_MS = 5_000;

function showSettings(deps: ApiDeps): Handler<typeof declared.showAutoTopup> {
  return async (ctx) => {
    return presentAutoTopup(await findAutoTopup(deps.db, callerOf(ctx).userId));
  };
}

/**
 * Stores the settings, with an intent where the level asks for one, and tells the workflow at once as well
 * (workflows/followers.ts). From then on whatever lowers what is available checks the level.
 */
function putSettings(deps: ApiDeps): Handler<typeof declared.putAutoTopup> {
  const countTry = countCardTries(deps);
  return async (ctx) => {
    const { userId } = sessionOf(ctx);
    const settings = readBody(ctx, autoTopupSchema);
    if (settings.enabled && !deps.settings.billing.enabled) {
      throw new Refusal('billing_disabled', 'Payments are turned off here, so we can’t charge a card.');
    }
    const before = await findAutoTopup(deps.db, userId);
    refuseWhenCapIdle(settings, before);
    // A charge that fails switches it off: whoever switches it on lets the card be tried once more.
    if (settings.enabled && before?.enabled !== true) await countTry(ctx, userId);
    const row = await saveAutoTopup(deps.db, userId, settings, auditAddress(ctx));
    if (!row) {
      throw new Refusal(
        'no_saved_card',
        'Save a card that has not expired first: POST /v1/billing/setup-intent.',
      );
    }
    if (row.enabled) void signalAutoTopup(ctx, deps, userId);
    return { ...presentAutoTopup(row), warnings: await warningsOf(deps, userId, row) };
  };
}

async function signalAutoTopup(ctx: ApiContext, deps: ApiDeps, userId: UserId): Promise<void> {
  try {
    await deps.temporal.within(SIGNAL_LIMIT_MS, () =>
      signalLook(
        { db: deps.db, workflows: deps.temporal.client.workflow },
        { workflow: 'autoTopup', workflowId: autoTopupWorkflowId(userId) },
      ),
    );
  } catch (error) {
    // The next tick of a running machine checks the level all the same.
    ctx.state.log.warn({ err: error, userId }, 'the auto-topup could not be told of new settings');
  }
}

async function warningsOf(deps: ApiDeps, userId: UserId, row: AutoTopupRow): Promise<string[]> {
  return row.enabled ? autoTopupWarnings(row, await readBurnPerHour(deps.db, userId)) : [];
}
