import { WorkflowNotFoundError } from '@temporalio/client';
import { watermarkMemo, watermarkWorkflowId } from '../../../workflows/contracts/watermark.js';

/** What Temporal was asked to do: its call, the type of the workflow, then its id. */
type Asked = readonly [call: 'start' | 'signalWithStart', type: string, workflowId: string];

/** Temporal's client as the activities use it: it knows what runs, and keeps what it was asked to do. */
export class ScriptedTemporal {
  readonly asked: Asked[] = [];
  /** The ids of what runs. */
  readonly running = new Set<string>();
  /** The server takes no start and no signal of these ids, and answers all else. */
  readonly refusing = new Set<string>();
  /** The attempt of the task that a run waits for. */
  readonly attempts = new Map<string, number>();
  /** The ids of the runs that it was asked about. */
  readonly described: string[] = [];
  /** It answers nothing at all. */
  isAway = false;
  /** The watermark that it was told last; null: never. */
  watermark: number | null = null;

  /** What the activities are given. */
  readonly port = {
    withDeadline: <T>(_deadline: number, call: () => Promise<T>): Promise<T> => call(),
    workflow: {
      start: (type: string, run: Run) => this.take('start', type, run),
      signalWithStart: (type: string, run: Run) => this.take('signalWithStart', type, run),
      getHandle: (workflowId: string) => ({ describe: () => this.describe(workflowId) }),
      list: () => this.list(),
    },
  };

  /** The ids that it was asked to signal or start, in that order. */
  get ids(): string[] {
    return this.asked.map(([, , workflowId]) => workflowId);
  }

  /** Forgets what it was asked, what runs and what fails. */
  reset(): void {
    this.asked.length = 0;
    this.running.clear();
    this.refusing.clear();
    this.attempts.clear();
    this.described.length = 0;
    this.isAway = false;
    this.watermark = null;
  }

  private async take(call: Asked[0], type: string, { workflowId, memo }: Run): Promise<void> {
    await this.answer();
    this.asked.push([call, type, workflowId]);
    if (this.refusing.has(workflowId)) throw new Error('its run takes no more signals');
    this.running.add(workflowId);
    this.watermark = memo?.[watermarkMemo] ?? this.watermark;
  }

  private async describe(workflowId: string): Promise<object> {
    await this.answer();
    if (workflowId !== watermarkWorkflowId) {
      this.described.push(workflowId);
      return { raw: { pendingWorkflowTask: { attempt: this.attempts.get(workflowId) ?? 1 } } };
    }
    if (this.watermark === null) throw new WorkflowNotFoundError('not found', workflowId, undefined);
    return { memo: { [watermarkMemo]: this.watermark } };
  }

  private async *list(): AsyncGenerator<{ workflowId: string }> {
    await this.answer();
    for (const workflowId of this.running) yield { workflowId };
  }

  private answer(): Promise<void> {
    return this.isAway ? Promise.reject(new Error('nobody answers')) : Promise.resolve();
  }
}

interface Run {
  readonly workflowId: string;
  readonly memo?: Readonly<Record<string, number>>;
}
