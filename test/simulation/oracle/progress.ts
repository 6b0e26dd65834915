import { HOUR_MS, rentalOf, type Evidence } from './evidence.js';

/** An hour after the last fault, everything is final or waits for a reason that has a name. */
export async function judgeProgress({
  ask,
  machines,
  world,
  calmSinceMs,
  nowMs,
}: Evidence): Promise<string[]> {
  if (nowMs - calmSinceMs < HOUR_MS) return [];
  // A machine that its upstream does not end, of whichever try, is the one reason for which a rental's row stays open.
  const stubborn = machines.filter(({ isStubborn }) => isStubborn).map(rentalOf);
  const violations: string[] = [];
  const stuck = await ask<{ what: string }>(
    `select 'rental ' || id || ' is ' || status as what from rentals where (status in ('provisioning', 'stopping') or (status in ('stopped', 'failed') and closed_at is null)) and not (settled_at is not null and id = any ($1::text[]))
     union all select 'top-up ' || id || ' is ' || status from topups where closed_at is null and status <> 'requires_payment'
     union all select 'event ' || id || ' (' || kind || ') is not handled' from processor_events where handled_at is null and workflow_id is not null
       and not (id like 'evt_forged%' and exists (select 1 from stuck_items where item = workflow_id and set_aside_at is not null))
     union all select 'a mail is not sent: ' || subject from mail_outbox
       where sent_at is null and created_at < to_timestamp($2::float8 / 1000) and recipient <> all ($3::text[])
     union all select 'an event is not numbered: ' || type from event_outbox
     union all select 'an intent is open: ' || kind from intents where acknowledged_at is null and kind <> 'low_balance' and kind <> 'auto_topup'
     union all select 'wallet ' || id || ' is blocked: ' || metering_blocked_reason from wallets where metering_blocked_at is not null`,
    [stubborn, calmSinceMs, [...world.refusing]],
  );
  violations.push(...stuck.map(({ what }) => what));
  return violations;
}
