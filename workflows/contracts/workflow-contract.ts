import type { SignalDefinition, Workflow } from '@temporalio/common';
import { isId, type IdPrefix } from '../../domain/ids.js';

/**
 * A workflow as all other code knows it: its registered name and, by types alone, its input and its result. Code that
 * starts, signals or lists it derives all of that from here.
 */
export interface WorkflowContract<Type extends string = string, Run extends Workflow = Workflow> {
  readonly type: Type;
  /** Never set: it carries the types. The compiler compares it with the workflow itself (test/workflows). */
  readonly run?: Run;
}

/** The type of a workflow's function, read from its contract. */
export type RunOf<Contract extends WorkflowContract> = NonNullable<Contract['run']>;

/** One run, with all that its start takes. */
export interface WorkflowRun<Run extends Workflow = Workflow> {
  readonly contract: WorkflowContract<string, Run>;
  readonly workflowId: string;
  readonly args: Parameters<Run>;
  /** Operators read it in the Temporal UI before anything of the run's row. */
  readonly summary: string;
  readonly details?: string;
}

/**
 * A workflow that follows one row under that row's own id. A signal lets it look, and the id alone is enough to start a
 * lost run again (design: Temporal 1).
 */
export interface LookingWorkflow<
  Type extends string = string,
  Run extends Workflow = Workflow,
> extends WorkflowContract<Type, Run> {
  readonly signal: SignalDefinition;
  /**
   * Returns the run that takes a row up again.
   * @throws Error when the text is no id of such a workflow
   */
  readonly takeUp: (workflowId: string) => WorkflowRun<Run>;
}

/** How often a schedule starts a run: a number and its unit. */
export type Interval = `${number}${'s' | 'm' | 'h'}`;

/** A workflow that Temporal itself starts at intervals. */
export interface WorkflowSchedule<Run extends Workflow = Workflow> {
  /** The id of the schedule, and of its runs. */
  readonly id: string;
  readonly contract: WorkflowContract<string, Run>;
  readonly args: Parameters<Run>;
  readonly every: Interval;
  /** The schedule's offset from midnight in UTC. */
  readonly offset?: Interval;
  readonly note: string;
}

/**
 * Reads the id of a row from a workflow's id.
 * @throws Error when it has another shape
 */
export function rowIdOf<P extends IdPrefix>(prefix: P, workflowId: string): `${P}_${string}` {
  if (!isId(prefix, workflowId)) throw new Error(`${workflowId} is no ${prefix}_ id`);
  return workflowId;
}
