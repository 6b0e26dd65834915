import { isGrpcServiceError, type WorkflowClient } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import type { RentalId } from '../../domain/ids.js';
import type { RunHistory, ToldEnd } from '../../domain/operations/lost-time.js';
import { stopUpdate, type RentalOutcome } from '../../workflows/contracts/rental.js';

export interface RentalRun extends RunHistory {
  readonly isOpen: boolean;
}

/** Phases of a look that are only possible after the end of billing (activities/rentals/rental.ts). */
const afterEnd: ReadonlySet<unknown> = new Set(['ended', 'end_pod', 'closed']);

/** Outcomes of a run that ended its rental. */
const endings: ReadonlySet<unknown> = new Set<RentalOutcome['outcome']>(['stopped', 'failed']);

/** gRPC's NOT_FOUND. */
const NOT_FOUND = 5;

/**
 * Reads what the newest runs of a rental have kept since an instant, from the newest event back: a rental that runs for
 * weeks is asked for its last hour only.
 * @returns undefined when Temporal knows of none (any more), or the last one was cut off by hand: nothing tells of an end
 */
export async function readRentalRun(
  workflows: WorkflowClient,
  rentalId: RentalId,
  since: Date,
): Promise<RentalRun | undefined> {
  const reading = new Reading(since);
  let runId: string | undefined = '';
  try {
    while (runId !== undefined) runId = await readRun(workflows, { workflowId: rentalId, runId }, reading);
  } catch (error) {
    if (isGrpcServiceError(error) && (error.code as number) === NOT_FOUND) return reading.run;
    throw error;
  }
  return reading.run;
}

/** @returns the run that this one goes on from, as far as that one still was in the time that is read */
async function readRun(
  workflows: WorkflowClient,
  execution: { readonly workflowId: string; readonly runId: string },
  reading: Reading,
): Promise<string | undefined> {
  const { namespace } = workflows.options;
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await workflows.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const event of page.history?.events ?? []) {
      if (!reading.take(event)) return undefined;
    }
    nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
  } while (nextPageToken);
  return reading.before;
}

type Page = Awaited<ReturnType<WorkflowClient['workflowService']['getWorkflowExecutionHistoryReverse']>>;
type Event = NonNullable<NonNullable<Page['history']>['events']>[number];
type Payloads = { payloads?: Parameters<typeof defaultPayloadConverter.fromPayload>[0][] | null } | null;

/** What a step of a rental answered, as far as a restore needs it. */
interface Answer {
  readonly phase?: string;
  readonly kept?: { readonly end: ToldEnd | null; readonly limitAt: string | null };
}

/** Gathers the instants of a rental's runs; their events come newest first. */
class Reading {
  /** The run before this one; undefined when it was the first. */
  before: string | undefined;
  #is: 'unknown' | 'open' | 'closed' | 'cut' = 'unknown';
  #stoppedAt: Date | null = null;
  #endProvenAt: Date | null = null;
  #closedAt: Date | null = null;
  #kept: Answer['kept'] | undefined;

  constructor(private readonly since: Date) {}

  get run(): RentalRun | undefined {
    if (this.#is === 'unknown') return undefined;
    // A run that was cut off proves no end; what it had noted before does.
    if (this.#is === 'cut' && this.#stoppedAt === null && this.#endProvenAt === null) return undefined;
    const { end = null, limitAt } = this.#kept ?? {};
    return {
      isOpen: this.#is === 'open',
      closedAt: this.#closedAt,
      stoppedAt: this.#stoppedAt,
      endProvenAt: this.#endProvenAt,
      end,
      limitAt: typeof limitAt === 'string' ? new Date(limitAt) : limitAt,
    };
  }

  /** @returns false for the first event from before the time that is read */
  take(event: Event): boolean {
    const at = instantOf(event);
    if (this.#is === 'unknown') this.#takeState(event, at);
    // The start of an activity is written down with its end, by the time of then.
    if (at < this.since) return Boolean(event.activityTaskStartedEventAttributes);
    if (isStop(event)) this.#stoppedAt = at;
    if (this.#takeAnswer(event)) this.#endProvenAt = at;
    this.before = earlierRunOf(event);
    return true;
  }

  #takeState(event: Event, at: Date): void {
    const closing = Object.keys(event).find((name) => closings.test(name));
    const done = event.workflowExecutionCompletedEventAttributes;
    const outcome = done ? (firstOf(done.result) as Partial<RentalOutcome> | undefined)?.outcome : undefined;
    if (endings.has(outcome)) this.#closedAt = at;
    this.#is = closing === undefined ? 'open' : endings.has(outcome) ? 'closed' : 'cut';
  }

  /** @returns whether this event tells that billing has ended */
  #takeAnswer(event: Event): boolean {
    const marker = event.markerRecordedEventAttributes;
    const result = marker ? marker.details?.['result'] : event.activityTaskCompletedEventAttributes?.result;
    const answered = firstOf(result) as (Answer & { readonly look?: Answer }) | null | undefined;
    const answer = answered?.look ?? answered;
    this.#kept ??= answer?.kept;
    return afterEnd.has(answer?.phase);
  }
}

function instantOf({ eventTime }: Event): Date {
  return new Date(Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6);
}

function isStop({ workflowExecutionUpdateAcceptedEventAttributes: update }: Event): boolean {
  return update?.acceptedRequest?.input?.name === stopUpdate.name;
}

/** Returns the run that began this one, where this is its first event. */
function earlierRunOf({ workflowExecutionStartedEventAttributes: begun }: Event): string | undefined {
  const id = begun?.continuedExecutionRunId ?? '';
  return id === '' ? undefined : id;
}

const closings = /^workflowExecution(Completed|Failed|TimedOut|Terminated|Canceled)EventAttributes$/;

function firstOf(payloads: Payloads | undefined): unknown {
  const [payload] = payloads?.payloads ?? [];
  return payload ? defaultPayloadConverter.fromPayload(payload) : undefined;
}
