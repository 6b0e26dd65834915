import {
  findDueEvent,
  listSealedSecrets,
  lookAtWebhookRow,
  noteTry,
  scheduleWebhook,
  type FoundWebhook,
  type Scheduled,
} from '../../adapters/postgres/webhooks/deliveries.js';
import type { WebhookId } from '../../domain/ids.js';
import { webhookLimits } from '../../domain/webhooks/limits.js';
import type { EventLook } from '../../workflows/contracts/events.js';
import type { WebhookLook } from '../../workflows/contracts/webhook.js';
import type { ActivityDeps } from '../deps.js';
import { inRounds, ONE_CALL_MS, toldBefore, withHeartbeat, type Tell } from '../heartbeat.js';
import { challenge, deliver, type Sent } from './send.js';
import { UserTurns } from './user-turns.js';
import { wakeDueWebhooks } from './wake.js';

/** Delivers events to users' endpoints (decision 102, "Webhooks out"). */
export function createWebhookActivities(deps: ActivityDeps) {
  const turns = new UserTurns(webhookLimits.perUserAtOnce);
  return {
    /**
     * One go of an endpoint: sends what is due, up to a hundred tries or half a minute, and says when it has something
     * to do again. An endpoint with nothing to do is closed: its next event starts its workflow again.
     */
    async lookAtWebhook(id: WebhookId): Promise<WebhookLook> {
      return withHeartbeat((tell) => oneGo(deps, id, turns, tell), { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

/** The loop that tells endpoints' workflows of new events. */
export function createWebhookWaker(deps: ActivityDeps) {
  return {
    /** Looks for endpoints with something to do for `forMs` and returns; its workflow starts it again. */
    async wakeWebhooks(forMs: number): Promise<void> {
      let told = 0;
      const round = async (tell: Tell): Promise<number> => {
        told += await wakeDueWebhooks(deps, tell);
        tell({ told });
        return webhookLimits.wakeEveryMs;
      };
      await inRounds(forMs, round, { stalledAfterMs: ONE_CALL_MS });
    },
  };
}

async function oneGo(deps: ActivityDeps, id: WebhookId, turns: UserTurns, tell: Tell): Promise<WebhookLook> {
  const db = deps.webhookDb;
  // Forgotten, an outage longer than one attempt would send an event twice.
  const sentBefore: Sent = toldBefore<Sent>('sent') ?? {};
  if (sentBefore.sent) tell(sentBefore);
  const first = await lookAtWebhookRow(db, id);
  if (!first) return closed('missing', 'There is no such webhook any more');
  const { user_id: userId } = first;
  const pass = turns.take(userId);
  if (pass === undefined) {
    const nextLookMs = webhookLimits.turnAgainMs * (0.75 + Math.random() / 2);
    return { ...waiting('waiting', 'Other webhooks of its user are at work', nextLookMs), userId };
  }
  try {
    return { ...(await sendWhatIsDue(deps, first, sentBefore, tell)), userId };
  } finally {
    pass();
  }
}

/** One go: it ends with the endpoint, at a brake, when nothing is due, or when enough was done. */
async function sendWhatIsDue(
  deps: ActivityDeps,
  first: FoundWebhook,
  sentBefore: Sent,
  tell: Tell,
): Promise<EventLook> {
  const end = performance.now() + webhookLimits.goMs;
  const isEnough = (tries: number) => tries >= webhookLimits.triesPerGo || performance.now() >= end;
  let hook: FoundWebhook | undefined = first;
  for (let tries = 1; ; tries += 1) {
    if (!hook) return closed('missing', 'There is no such webhook any more');
    const over = overOf(hook);
    if (over) return over;
    const isDue = await sendOne(deps, hook, sentBefore, tell);
    if (!isDue || isEnough(tries)) {
      const scheduled = await scheduleWebhook(deps.webhookDb, first.id);
      // What came at the last moment is sent in this go as well.
      if (scheduled.waitMs !== 0 || isEnough(tries)) return lookOf(scheduled);
    }
    hook = await lookAtWebhookRow(deps.webhookDb, first.id);
  }
}

/** The end of a go, where an endpoint may not be sent anything. */
function overOf(hook: FoundWebhook): EventLook | undefined {
  if (hook.state === 'switched_off' || hook.state === 'removed') {
    return closed(hook.state, `The endpoint is ${hook.state.replace('_', ' ')}`);
  }
  if (!hook.is_paused) return undefined;
  return waiting('paused', 'Operators have paused webhooks', webhookLimits.brakeLookMs);
}

/** @returns false when nothing was due */
async function sendOne(
  deps: ActivityDeps,
  hook: FoundWebhook,
  sentBefore: Sent,
  tell: Tell,
): Promise<boolean> {
  const db = deps.webhookDb;
  if (hook.state === 'pending' && hook.is_pausing) return false;
  const due = hook.state === 'pending' ? null : await findDueEvent(db, hook);
  if (due === undefined) return false;
  const secrets = await openSecrets(deps, hook.id);
  const tries = due?.tries ?? hook.tries;
  tell({ trying: due?.event.seq ?? 'challenge', tries: tries + 1, ...sentBefore });
  if (due === null) {
    await noteTry(db, hook, await challenge(deps, hook, secrets));
  } else {
    await noteTry(db, hook, await deliver(deps, hook, { due, secrets, sentBefore, tell }));
  }
  return true;
}

async function openSecrets({ webhookDb, webhooks }: ActivityDeps, id: WebhookId): Promise<string[]> {
  const sealed = await listSealedSecrets(webhookDb, id);
  return sealed.map((secret) => webhooks.openSecret(secret, id));
}

function lookOf({ waitMs, failures }: Scheduled): EventLook {
  if (waitMs === null) return closed('idle', 'Nothing is left to send');
  if (failures === 0) return waiting('sending', 'More is to be sent', Math.max(1, waitMs));
  return waiting('failing', `The last ${failures} tries failed`, Math.max(1, waitMs));
}

function closed(status: string, summary: string): EventLook {
  return { state: status === 'missing' ? 'missing' : 'closed', status, summary };
}

function waiting(status: string, summary: string, nextLookMs: number): EventLook {
  return { state: 'waiting', status, summary, nextLookMs: Math.round(nextLookMs) };
}
