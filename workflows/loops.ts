import { continueAsNew, setCurrentDetails, sleep } from '@temporalio/workflow';
import { meteringLimits } from '../domain/metering/limits.js';
import { loops, mails, watching } from './activity-proxies.js';
import type {
  MailerInput,
  MeterInput,
  ProviderWatchInput,
  SequencerInput,
  UpkeepInput,
  WebhookWakerInput,
} from './contracts/loops.js';
import { goOnAfter, isLong, pauseMs } from './generations.js';

/** The tick engine of one shard: `meter:<shard>`. */
export async function meter(input: MeterInput): Promise<'retired'> {
  setCurrentDetails(
    `Meters the wallets of shard ${input.shard} each second; see the pending activity's heartbeat. Its entries stay 0 while metering is paused: "ops brakes" tells.`,
  );
  for (;;) {
    const run = () => loops.runMeter(input.shard, input.runMs ?? meteringLimits.meterRunMs);
    if ((await goingOn(run)) === 'retired') return 'retired';
    if (isLong()) await continueAsNew<typeof meter>(input);
  }
}

/** The watcher of one upstream: `provider-watch:<code>`. */
export async function providerWatch(input: ProviderWatchInput): Promise<'not configured'> {
  setCurrentDetails(
    `Lists our pods at ${input.code} every 2 s and its offers every 30 s; the pending activity's heartbeat tells what it answers (lastError).`,
  );
  for (;;) {
    const run = () => watching.watchProvider(input.code, input.runMs ?? meteringLimits.meterRunMs);
    if ((await goingOn(run)) === 'not configured') return 'not configured';
    if (isLong()) await continueAsNew<typeof providerWatch>(input);
  }
}

/** Sends the mails of the outbox: `mailer`. */
export async function mailer(input: MailerInput): Promise<void> {
  setCurrentDetails('Sends the mails that transactions left in the outbox; see the heartbeat.');
  for (;;) {
    await goingOn(() => mails.deliverMails(input.runMs ?? meteringLimits.meterRunMs));
    if (isLong()) await continueAsNew<typeof mailer>(input);
  }
}

/** Numbers the events of the outbox: `sequencer`. */
export async function sequencer(input: SequencerInput): Promise<void> {
  setCurrentDetails('Numbers the events that transactions left in the outbox; see the heartbeat.');
  for (;;) {
    await goingOn(() => loops.runSequencer(input.runMs ?? meteringLimits.meterRunMs));
    if (isLong()) await continueAsNew<typeof sequencer>(input);
  }
}

/** Tells the workflows of webhook endpoints what is due: `webhook-waker`. */
export async function webhookWaker(input: WebhookWakerInput): Promise<void> {
  setCurrentDetails('Tells the workflows of webhooks of new events; see the heartbeat.');
  for (;;) {
    await goingOn(() => loops.wakeWebhooks(input.runMs ?? meteringLimits.meterRunMs));
    if (isLong()) await continueAsNew<typeof webhookWaker>(input);
  }
}

/** One duty of the upkeep: `upkeep:<duty>`. */
export async function upkeep(input: UpkeepInput): Promise<void> {
  setCurrentDetails(`The duty "${input.duty}", again and again; see the pending activity's heartbeat.`);
  for (;;) {
    await goingOn(() => loops.runUpkeep(input.duty, input.runMs ?? meteringLimits.meterRunMs));
    if (isLong()) await continueAsNew<typeof upkeep>(input);
  }
}

/** Runs a loop. A loop that used up its schedule begins anew after a moment. */
async function goingOn<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    goOnAfter(error);
    await sleep(pauseMs(1));
    return undefined;
  }
}
