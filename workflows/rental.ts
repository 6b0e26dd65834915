import {
  allHandlersFinished,
  condition,
  continueAsNew,
  deprecatePatch,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PodOutcome } from '../activities/machines/await-pod.js';
import type { RentalLook, RentalPhase } from '../activities/rentals/rental.js';
import type { RentalId } from '../domain/ids.js';
import { meteringLimits } from '../domain/metering/limits.js';
import { rentalLimits } from '../domain/rentals/limits.js';
import { changing, opening, upstream } from './activity-proxies.js';
import { answerOf, earlyAnswerOf, type EarlyAnswer } from './early-answer.js';
import { goOnAfter, isLong, pauseMs } from './generations.js';
import { withinTask } from './steps-within-task.js';
import {
  changeUpdate,
  openUpdate,
  stopUpdate,
  type RentalDurations,
  type RentalInput,
  type RentalOutcome,
} from './contracts/rental.js';
import {
  entityStatusAttribute,
  pricePerHourAttribute,
  providerAttribute,
  userIdAttribute,
} from './contracts/search-attributes.js';
import { lookSignal } from './contracts/signals.js';

const defaultDurations: RentalDurations = {
  provisionDeadlineMs: rentalLimits.provisionDeadlineMs,
  unknownFindMs: rentalLimits.unknownFindMs,
  beltMs: meteringLimits.beltMs,
};

/**
 * One rental, from its opening until its pod is gone and all is settled. The row is the state: each round reads where
 * the rental stands and takes the next step. So a new run goes on where a lost run stood.
 */
export async function rental(input: RentalInput): Promise<RentalOutcome> {
  const { rentalId, open } = input;
  const durations: RentalDurations = { ...defaultDurations, ...input.durations };
  const state: RunState = { looks: 0, settled: false, stuck: false, left: undefined, told: {} };
  const opened = open === undefined ? taken(rentalId) : beginOpening(rentalId, open);
  // Where the rental stands is the workflow's own.
  setHandler(openUpdate, async () => ({ ...(await answerOf(opened)), look: undefined }));
  setHandler(lookSignal, () => void (state.looks += 1));
  setHandler(stopUpdate, async () => {
    state.looks += 1;
    // Nobody waits for a stop that takes hours; the request's row holds.
    await condition(() => state.settled || state.stuck);
  });

  setHandler(changeUpdate, async (change) => {
    try {
      await changing.changeRental({ ...change, rentalId });
      return { changeId: change.changeId };
    } finally {
      // The limit may be nearer now, or reached.
      state.looks += 1;
    }
  });

  const outcome = await opened;
  if (outcome.kind === 'refused')
    return end(state, { outcome: 'refused', code: outcome.failure.type ?? 'unknown' });
  // Runs of 0.2 carry this mark here, and a refusal ends a run before it; the next release drops the line.
  deprecatePatch('steps-within-task');
  state.left = outcome.value.look;

  for (let failures = 0; ;) {
    const looks = state.looks;
    try {
      const done = await goOn(rentalId, durations, state);
      if (done) return await end(state, done);
      failures = 0;
    } catch (error) {
      goOnAfter(error);
      failures += 1;
      state.stuck = true;
      await condition(() => state.looks !== looks, pauseMs(failures));
      if (isLong()) await continueAsNew<typeof rental>({ rentalId, durations });
    }
  }
}

/**
 * Does one round: reads where the rental stands and takes the next step.
 * @returns the rental's outcome, when it is over
 */
async function goOn(
  rentalId: RentalId,
  durations: RentalDurations,
  state: RunState,
): Promise<RentalOutcome | undefined> {
  const look = await lookAt(rentalId, state);
  // The rental goes on, maybe for weeks: callers who stop it wait for its bill again.
  state.stuck = false;
  showInTemporal(look, state);
  state.settled = look.phase === 'end_pod' || look.phase === 'closed';
  if (look.phase === 'missing') return { outcome: 'missing' };
  if (look.phase === 'closed') return { outcome: look.facts?.status === 'failed' ? 'failed' : 'stopped' };
  await takeStep(look.phase, rentalId, durations, state);
  return undefined;
}

interface RunState {
  /** How often the workflow was told to look. */
  looks: number;
  settled: boolean;
  /** Whether the last step used up its schedule, and nothing has gone well since. */
  stuck: boolean;
  /** Where the last step left the rental; undefined when it must be looked at. */
  left: RentalLook | undefined;
  /** What operators were last told to filter by. */
  told: Partial<RentalFacts>;
}

type RentalFacts = NonNullable<RentalLook['facts']>;

/** Returns where the last step left the rental; without an answer of it, reads the row. */
async function lookAt(rentalId: RentalId, state: RunState): Promise<RentalLook> {
  const { left } = state;
  // A step that fails leaves the rental anywhere.
  state.left = undefined;
  return left ?? withinTask.lookAtRental(rentalId);
}

/** For each phase, what a rental waits for, in words for a person at night. */
const comesNext: Record<RentalPhase, string> = {
  missing: 'There is nothing to do.',
  find_pod:
    'Waits until its machine is found at the upstream, or another one is bought: see the pending activity.',
  await_pod: 'Waits until its machine answers over SSH; nothing is charged before: see the pending activity.',
  running:
    'The cents are those of the last look; the ledger counts on each second, until a stop, a limit or the end of the money.',
  ended: 'Billing has ended: the final bill is made.',
  end_pod: 'Billing is settled; waits until the upstream shows the machine gone: see the pending activity.',
  closed: 'All is settled and the machine is gone.',
};

/**
 * Sets what the Temporal UI shows of the rental, which is no event, and what operators filter by, which is one: it is
 * written where something has changed.
 */
function showInTemporal({ phase, summary, facts }: RentalLook, state: RunState): void {
  // An error that the summary ends with is a sentence already.
  setCurrentDetails(`${summary.replace(/\.$/, '')}. ${comesNext[phase]}`);
  if (facts === null) return;
  const changed = (name: keyof RentalFacts): boolean => state.told[name] !== facts[name];
  const pairs = [
    ...(changed('status') ? [{ key: entityStatusAttribute, value: facts.status }] : []),
    ...(changed('userId') ? [{ key: userIdAttribute, value: facts.userId }] : []),
    ...(changed('provider') ? [{ key: providerAttribute, value: facts.provider }] : []),
    ...(changed('pricePerHourCents') ? [{ key: pricePerHourAttribute, value: facts.pricePerHourCents }] : []),
  ];
  if (pairs.length > 0) upsertSearchAttributes(pairs);
  state.told = facts;
}

/** Takes the one step of a phase. The step moves the row on, so that the next look finds another phase. */
async function takeStep(
  phase: Exclude<RentalPhase, 'missing' | 'closed'>,
  rentalId: RentalId,
  durations: RentalDurations,
  state: RunState,
): Promise<void> {
  switch (phase) {
    case 'find_pod': {
      const missed = await upstream.findPod(rentalId, durations.unknownFindMs);
      if (missed) await giveUp(rentalId, missed, state);
      return;
    }
    case 'await_pod': {
      const pod = await upstream.awaitPod(rentalId, durations.provisionDeadlineMs);
      if (pod.kind === 'answered') state.left = await withinTask.startMetering(rentalId);
      else if (!isLeft(pod)) await giveUp(rentalId, pod, state);
      return;
    }
    case 'running':
      return meterUntilEnded(rentalId, durations, state);
    case 'ended':
      state.left = await withinTask.settleRental(rentalId);
      return;
    case 'end_pod':
      await upstream.endPods(rentalId);
      state.left = await withinTask.closeRental(rentalId);
  }
}

/**
 * Tells whether the rental is to look for another machine, because its own was bad. A run of the release before may have
 * given it up by the same outcome.
 */
function isLeft(pod: PodOutcome): boolean {
  return pod.kind === 'failed' && pod.isLeft === true && patched('next-machine');
}

async function giveUp(
  rentalId: RentalId,
  pod: Exclude<PodOutcome, { kind: 'answered' }>,
  state: RunState,
): Promise<void> {
  const error = pod.kind === 'failed' ? pod.error : null;
  state.left = await withinTask.giveUpProvisioning(rentalId, error);
}

/**
 * Meters durably until the rental ends (the second belt). Each round settles exactly and looks at the pod. Then it
 * waits for a signal (a stop, an intent of the tick engine, a lost pod) or for the instant at which something is due.
 */
async function meterUntilEnded(
  rentalId: RentalId,
  durations: RentalDurations,
  state: RunState,
): Promise<void> {
  for (;;) {
    const seen = state.looks;
    const { nextLookMs, look } = await withinTask.meterRental(rentalId, durations.beltMs);
    state.left = look;
    if (nextLookMs === 0) return;
    const now = await lookAt(rentalId, state);
    if (now.phase !== 'running') {
      state.left = now;
      return;
    }
    showInTemporal(now, state);
    await condition(() => state.looks !== seen, nextLookMs);
    // A caller who waits for a stop is answered by this run: it is about to end anyway.
    if (allHandlersFinished() && isLong()) {
      await continueAsNew<typeof rental>({ rentalId, durations });
    }
  }
}

async function end(state: { settled: boolean }, outcome: RentalOutcome): Promise<RentalOutcome> {
  state.settled = true;
  await condition(allHandlersFinished);
  return outcome;
}

type Opened = Pick<Awaited<ReturnType<typeof opening.openRental>>, 'rentalId' | 'look'>;
type OpenedRental = EarlyAnswer<Opened>;

function beginOpening(
  rentalId: RentalInput['rentalId'],
  open: NonNullable<RentalInput['open']>,
): Promise<OpenedRental> {
  setCurrentDetails('Is being opened: see the pending activity.');
  return earlyAnswerOf(opening.openRental({ rentalId, open }));
}

/** Answers for a run that was started for a row that exists: it has nothing to open. */
function taken(rentalId: RentalInput['rentalId']): Promise<OpenedRental> {
  setCurrentDetails('Is taken up from its row.');
  return Promise.resolve({ kind: 'opened', value: { rentalId } });
}
