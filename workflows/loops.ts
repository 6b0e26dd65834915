import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { limits } from '../domain/limits.js';
import { loops, mails } from './activity-proxies.js';

/** The tick engine of one shard: `meter:<shard>`. */
export async function meter(input: { shard: number; runMs?: number }): Promise<'retired'> {
  setCurrentDetails(
    `Meters the wallets of shard ${input.shard} each second; see the pending activity's heartbeat. Its entries stay 0 while metering is paused: "ops brakes" tells.`,
  );
  for (;;) {
    if ((await loops.runMeter(input.shard, input.runMs ?? limits.meterRunMs)) === 'retired') return 'retired';
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof meter>(input);
  }
}

/** The watcher of one upstream: `provider-watch:<code>`. */
export async function providerWatch(input: { code: string; runMs?: number }): Promise<'not configured'> {
  setCurrentDetails(
    `Lists our pods at ${input.code} every 2 s and its offers every 30 s; the pending activity's heartbeat tells what it answers (lastError).`,
  );
  for (;;) {
    const outcome = await loops.watchProvider(input.code, input.runMs ?? limits.meterRunMs);
    if (outcome === 'not configured') return outcome;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof providerWatch>(input);
  }
}

/** Sends the mails of the outbox: `mailer`. */
export async function mailer(input: { runMs?: number }): Promise<void> {
  setCurrentDetails('Sends the mails that transactions left in the outbox; see the heartbeat.');
  for (;;) {
    await mails.deliverMails(input.runMs ?? limits.meterRunMs);
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof mailer>(input);
  }
}
