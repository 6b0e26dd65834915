import type { SignalDefinition, Workflow } from '@temporalio/common';
import { isId, type IdPrefix } from '../../domain/ids.js';

/**
 * A workflow as everybody else knows it: the name that it is registered under and, by types alone, what it takes and
 * comes to. Whoever starts, signals or lists it derives all of that from here.
 */
export interface WorkflowContract<Type extends string = string, Run extends Workflow = Workflow> {
  readonly type: Type;
  /** Never there: it carries the types. The compiler compares it with the workflow itself (test/workflows). */
  readonly run?: Run;
}

/** What the workflow of a contract is, by its types. */
export type RunOf<Contract extends WorkflowContract> = NonNullable<Contract['run']>;

/** One run, as it is started. */
export interface WorkflowRun<Run extends Workflow = Workflow> {
  readonly contract: WorkflowContract<string, Run>;
  readonly workflowId: string;
  readonly args: Parameters<Run>;
  /** What operators read of it in the Temporal UI before anything of its row. */
  readonly summary: string;
  readonly details?: string;
}

/**
 * A workflow that follows one row under that row's own id: a signal lets it look, and a run that was lost is started
 * again by nothing but the id (design: Temporal 1).
 */
export interface LookingWorkflow<
  Type extends string = string,
  Run extends Workflow = Workflow,
> extends WorkflowContract<Type, Run> {
  readonly signal: SignalDefinition;
  /**
   * The run that takes a row up again.
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
  /** From midnight in UTC. */
  readonly offset?: Interval;
  readonly note: string;
}

/**
 * Reads a workflow's id that is the id of a row.
 * @throws Error when it has another shape
 */
export function rowIdOf<P extends IdPrefix>(prefix: P, workflowId: string): `${P}_${string}` {
  if (!isId(prefix, workflowId)) throw new Error(`${workflowId} is no ${prefix}_ id`);
  return workflowId;
}
