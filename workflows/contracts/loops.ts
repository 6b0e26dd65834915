import type { UpkeepDuty } from '../../domain/operations/upkeep.js';
import type { WorkflowContract, WorkflowRun } from './workflow-contract.js';

/** How long one activity of a loop runs, in milliseconds; the default stands in workflows/loops.ts. */
interface LoopInput {
  readonly runMs?: number;
}

export interface MeterInput extends LoopInput {
  readonly shard: number;
}

export interface ProviderWatchInput extends LoopInput {
  readonly code: string;
}

export interface UpkeepInput extends LoopInput {
  readonly duty: UpkeepDuty;
}

export type MailerInput = LoopInput;
export type SequencerInput = LoopInput;
export type WebhookWakerInput = LoopInput;

type MeterRun = (input: MeterInput) => Promise<'retired'>;
type ProviderWatchRun = (input: ProviderWatchInput) => Promise<'not configured'>;
type UpkeepRun = (input: UpkeepInput) => Promise<void>;
type MailerRun = (input: MailerInput) => Promise<void>;
type SequencerRun = (input: SequencerInput) => Promise<void>;
type WebhookWakerRun = (input: WebhookWakerInput) => Promise<void>;

export const meterWorkflow: WorkflowContract<'meter', MeterRun> = { type: 'meter' };
export const providerWatchWorkflow: WorkflowContract<'providerWatch', ProviderWatchRun> = {
  type: 'providerWatch',
};
export const upkeepWorkflow: WorkflowContract<'upkeep', UpkeepRun> = { type: 'upkeep' };
export const mailerWorkflow: WorkflowContract<'mailer', MailerRun> = { type: 'mailer' };
export const sequencerWorkflow: WorkflowContract<'sequencer', SequencerRun> = { type: 'sequencer' };
export const webhookWakerWorkflow: WorkflowContract<'webhookWaker', WebhookWakerRun> = {
  type: 'webhookWaker',
};

/** The text for people who find one of these workflows in the UI. */
const details =
  'It runs for ever: a loop of a quarter of an hour, then the next. What it does now stands in the heartbeat of its pending activity. Terminated by mistake, it is started again by "upkeep:revive" or "upkeep:housekeeping" within a minute.';

/** Returns the run of one shard's tick engine. */
export function meterRun(shard: number): WorkflowRun<MeterRun> {
  return {
    contract: meterWorkflow,
    workflowId: `meter:${shard}`,
    args: [{ shard }],
    summary: `Meters the wallets of shard ${shard} each second`,
    details,
  };
}

/** Returns the run of one upstream's watcher. */
export function providerWatchRun(code: string): WorkflowRun<ProviderWatchRun> {
  return {
    contract: providerWatchWorkflow,
    workflowId: `provider-watch:${code}`,
    args: [{ code }],
    summary: `Watches the machines and the offers of ${code}`,
    details,
  };
}

/** Returns the run of one duty of the upkeep. */
export function upkeepRun(duty: UpkeepDuty): WorkflowRun<UpkeepRun> {
  return {
    contract: upkeepWorkflow,
    workflowId: `upkeep:${duty}`,
    args: [{ duty }],
    summary: upkeepSummaries[duty],
    details,
  };
}

/** Returns the run that sends the mails of the outbox. */
export function mailerRun(): WorkflowRun<MailerRun> {
  return {
    contract: mailerWorkflow,
    workflowId: 'mailer',
    args: [{}],
    summary: 'Sends the mails of the outbox',
    details,
  };
}

/** Returns the run that numbers the events of the outbox. */
export function sequencerRun(): WorkflowRun<SequencerRun> {
  return {
    contract: sequencerWorkflow,
    workflowId: 'sequencer',
    args: [{}],
    summary: 'Numbers the events that transactions tell',
    details,
  };
}

/** Returns the run that tells the workflows of webhook endpoints of new events. */
export function webhookWakerRun(): WorkflowRun<WebhookWakerRun> {
  return {
    contract: webhookWakerWorkflow,
    workflowId: 'webhook-waker',
    args: [{}],
    summary: 'Tells the workflows of webhooks of new events',
    details,
  };
}

const upkeepSummaries: Readonly<Record<UpkeepDuty, string>> = {
  revive: 'Starts the workflow of every unfinished row that has none',
  redeliver: 'Signals workflows whose events of the processor have waited',
  sweep: 'Ends machines that no live rental owns',
  housekeeping: 'Raises the watermark, removes what expired, tells of expired cards',
  reliability: 'Counts how reliable the upstreams are',
  sealing: 'Seals what wallets have written, where that is switched on',
};
