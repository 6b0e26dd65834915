import type { EventLook } from '../workflows/contracts/events.js';
import { answeringRestored, askingFirst } from './ask-first.js';
import type { ActivityDeps } from './deps.js';
import {
  answeringFailures,
  clearingLooks,
  countingLooks,
  countingSteps,
  handlingSignals,
  type Activity,
} from './noticing.js';

type Guarding = Pick<ActivityDeps, 'db' | 'temporal' | 'log'>;

/**
 * The policies: each says what an activity does before and after its work. It says whether the activity first asks if
 * the database may be acted on (decision 37, "Brakes and the watermark", and decision 67, "Restored databases"), and
 * what its failures count for (decision 69, "Items that fail").
 */
const guards = {
  /** Asks first, and is retried until it may begin. */
  asksFirst: askingFirst,

  /**
   * Asks first. A caller waits for the answer, so a database that may not be acted on is a refusal: nothing was begun.
   */
  answersCaller: answeringRestored,

  /** Does not ask first: it asks at each turn of its own loop, or it must work on a restored database. */
  neverAsks: (_deps: Guarding, activity: Activity) => activity,

  /**
   * Looks for a workflow that follows events. A look that fails is an answer, so that the workflow has its turn and
   * waits.
   */
  looksAtEvents: (deps: Guarding, activity: Activity) =>
    askingFirst(deps, answeringFailures(deps, activity as (...args: never[]) => Promise<EventLook>)),

  /** Looks at a rental. A look that goes well handles the signals that came before it. */
  looksAtRental: (deps: Guarding, activity: Activity) =>
    askingFirst(deps, countingLooks(deps, handlingSignals(deps, activity))),

  /** Takes a step of a rental. A step that fails is counted by itself, because the look before it goes well. */
  stepsRental: (deps: Guarding, activity: Activity, name: string) =>
    askingFirst(deps, countingSteps(deps, name, activity)),

  /** Takes a rental's step and looks at it in one activity, which handles the signals that came before it. */
  looksAndStepsRental: (deps: Guarding, activity: Activity, name: string) =>
    askingFirst(deps, countingSteps(deps, name, clearingLooks(deps, handlingSignals(deps, activity)))),
} as const;

type Policy = keyof typeof guards;

/**
 * The policies that an activity may have: `looksAtEvents` if it answers with a look at events, any other if it does
 * not.
 */
type PolicyFor<A extends Activity> =
  Awaited<ReturnType<A>> extends EventLook ? 'looksAtEvents' : Exclude<Policy, 'looksAtEvents'>;

/**
 * Guards a group of activities, each by the policy beside its name. The compiler refuses an activity without a policy
 * and a policy without an activity, so a rename can't lose a guard.
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
