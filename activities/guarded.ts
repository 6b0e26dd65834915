import type { EventLook } from '../workflows/contracts/events.js';
import { answeringRestored, askingFirst } from './ask-first.js';
import type { ActivityDeps } from './deps.js';
import {
  answeringFailures,
  countingLooks,
  countingSteps,
  handlingSignals,
  type Activity,
} from './noticing.js';

type Guarding = Pick<ActivityDeps, 'db' | 'temporal' | 'log'>;

/**
 * What an activity does before and after its work: whether it asks first if the database may be acted on (decision 37,
 * "Brakes and the watermark", and decision 67, "Restored databases"), and what its failures count for (decision 69,
 * "Items that fail").
 */
const guards = {
  /** Asks first, and is retried until it may begin. */
  asksFirst: askingFirst,

  /** Asks first. A caller waits for the answer: that it may not begin is a refusal, and nothing was begun. */
  answersCaller: answeringRestored,

  /** Asks at each turn of its own loop instead, or must work on a restored database. */
  neverAsks: (_deps: Guarding, activity: Activity) => activity,

  /** Looks for a workflow that follows events: one that fails is an answer, so that the workflow has its turn and waits. */
  looksAtEvents: (deps: Guarding, activity: Activity) =>
    askingFirst(deps, answeringFailures(deps, activity as (...args: never[]) => Promise<EventLook>)),

  /** Looks at a rental, by which what it was signalled is handled. */
  looksAtRental: (deps: Guarding, activity: Activity) =>
    askingFirst(deps, countingLooks(deps, handlingSignals(deps, activity))),

  /** Takes a step of a rental: one that fails is counted by itself, because the look before it goes well. */
  stepsRental: (deps: Guarding, activity: Activity, name: string) =>
    askingFirst(deps, countingSteps(deps, name, activity)),

  /** Looks at a rental and takes its step in one. */
  looksAndStepsRental: (deps: Guarding, activity: Activity, name: string) =>
    askingFirst(deps, countingSteps(deps, name, handlingSignals(deps, activity))),
} as const;

type Policy = keyof typeof guards;

/** What answers with a look at events is guarded as one, and nothing else is. */
type PolicyFor<A extends Activity> =
  Awaited<ReturnType<A>> extends EventLook ? 'looksAtEvents' : Exclude<Policy, 'looksAtEvents'>;

/**
 * Guards a group of activities, each by the policy that stands beside its name. The compiler refuses a group of which
 * one has no policy, and a policy whose activity is not there: a rename can't lose a guard.
 */
export function guarded<T extends Record<string, Activity>>(
  deps: Guarding,
  activities: T,
  policies: { readonly [Name in keyof NoInfer<T>]: PolicyFor<NoInfer<T>[Name]> },
): T {
  const policyOf = policies as Readonly<Record<string, Policy>>;
  const entries = Object.entries(activities).map(([name, activity]) => {
    const policy = policyOf[name];
    if (policy === undefined) throw new Error(`the activity ${name} has no policy`);
    return [name, guards[policy](deps, activity, name)];
  });
  return Object.fromEntries(entries) as T;
}
