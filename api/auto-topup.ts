import {
  findAutoTopup,
  readBurnPerHour,
  saveAutoTopup,
  type AutoTopupSettings,
} from '../adapters/postgres/auto-topup-settings.js';
import type { AutoTopupRow } from '../adapters/postgres/tables.js';
import { tellWorkflow } from '../adapters/temporal/tell-workflow.js';
import type { UserId } from '../domain/ids.js';
import { limits } from '../domain/limits.js';
import { formatUsd } from '../domain/money.js';
import { autoTopupWorkflowId } from '../domain/processor-routes.js';
import { Refusal } from '../domain/refusal.js';
import { auditAddress } from './audit-event.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from './context.js';
import { requireSession, type Step } from './middleware/session.js';
import { fieldRefusal, joi, readBody } from './validation.js';

/** Auto-topup (spec: PUT /v1/billing/auto-topup; decisions 33, 34). */
export function autoTopupRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/billing/auto-topup', requireSession(deps), showSettings(deps));
  router.put('/v1/billing/auto-topup', requireSession(deps), putSettings(deps));
}

const TELL_LIMIT_MS = 5_000;

const thresholdField = joi.number().integer().min(limits.minThresholdCents).max(limits.maxThresholdCents);

export const autoTopupSchema = joi.object<AutoTopupSettings>({
  enabled: joi.boolean().required(),
  thresholdCents: thresholdField.when('enabled', { is: true, then: joi.required() }),
  topupAmountCents: joi.number().integer().min(limits.minAutoTopupCents).max(limits.maxAutoTopupCents),
  dailyCapCents: joi
    .number()
    .integer()
    .min(limits.minAutoTopupCents)
    .max(limits.maxDailyCapCents)
    .allow(null),
});

function showSettings(deps: ApiDeps): Step {
  return async (ctx) => {
    ctx.body = present(await findAutoTopup(deps.db, sessionOf(ctx).userId));
  };
}

/**
 * Stores the settings. Enabled ones are looked at by the workflow at once (workflows/auto-topup.ts); from then on the
 * tick looks at the level each second.
 */
function putSettings(deps: ApiDeps): Step {
  return async (ctx) => {
    const { userId } = sessionOf(ctx);
    const settings = readBody(ctx, autoTopupSchema);
    if (settings.enabled && !deps.settings.billing.enabled) {
      throw new Refusal('billing_disabled', 'Payments are switched off here, so nothing can be charged.');
    }
    await refuseIdleCap(deps, userId, settings);
    const row = await saveAutoTopup(deps.db, userId, settings, auditAddress(ctx));
    if (!row) {
      throw new Refusal(
        'no_saved_card',
        'Save a card that has not expired first: POST /v1/billing/setup-intent.',
      );
    }
    if (row.enabled) void tell(ctx, deps, userId);
    ctx.body = { ...present(row), warnings: await warningsOf(deps, userId, row) };
  };
}

/** A cap below the amount would never let anything be charged, which nobody wishes. */
async function refuseIdleCap(deps: ApiDeps, userId: UserId, settings: AutoTopupSettings): Promise<void> {
  const stored = await findAutoTopup(deps.db, userId);
  const amount = settings.topupAmountCents ?? stored?.topup_amount_cents ?? limits.autoTopupDefaultCents;
  const cap = settings.dailyCapCents === undefined ? stored?.daily_cap_cents : settings.dailyCapCents;
  if (typeof cap === 'number' && cap < amount) {
    throw fieldRefusal('dailyCapCents', `must be at least topupAmountCents, which is ${amount}`);
  }
}

async function tell(ctx: ApiContext, deps: ApiDeps, userId: UserId): Promise<void> {
  try {
    await deps.temporal.within(TELL_LIMIT_MS, () =>
      tellWorkflow(deps.temporal.client.workflow, {
        workflow: 'autoTopup',
        workflowId: autoTopupWorkflowId(userId),
      }),
    );
  } catch (error) {
    // The next tick of a machine that runs looks at the level all the same.
    ctx.state.log.warn({ err: error, userId }, 'the auto-topup could not be told of new settings');
  }
}

/** Whether the amount can keep up with what runs, given that the card is charged once per cooldown at most. */
async function warningsOf(deps: ApiDeps, userId: UserId, row: AutoTopupRow): Promise<string[]> {
  if (!row.enabled) return [];
  const burnCents = await readBurnPerHour(deps.db, userId);
  const perCooldownCents = Math.ceil((burnCents * limits.autoTopupCooldownMs) / 3_600_000);
  if (perCooldownCents <= row.topup_amount_cents) return [];
  return [
    `Your machines use ${formatUsd(perCooldownCents)} in ${limits.autoTopupCooldownMs / 60_000} minutes, and the card is charged at most once in that time: raise topupAmountCents above ${perCooldownCents}.`,
  ];
}

function present(row: AutoTopupRow | undefined) {
  if (row === undefined) return beforeTheFirstPut;
  return {
    enabled: row.enabled,
    thresholdCents: row.threshold_cents,
    topupAmountCents: row.topup_amount_cents,
    dailyCapCents: row.daily_cap_cents,
    disabledReason: row.disabled_why,
  };
}

const beforeTheFirstPut = {
  enabled: false,
  thresholdCents: null,
  topupAmountCents: null,
  dailyCapCents: null,
  disabledReason: null,
};
