import { ScheduleAlreadyRunning, ScheduleNotFoundError, type ScheduleOptions } from '@temporalio/client';
import { msToNumber } from '@temporalio/common/lib/time.js';
import type { Interval } from '../../../workflows/contracts/workflow-contract.js';
import type { Kernel } from '../kernel/kernel.js';
import { copyOf } from './copy.js';
import { quietScope } from './quiet.js';
import type { Run } from './run.js';

/** The longest time between two runs of a schedule while nothing happens, in milliseconds. */
const CALM_MS = 3 * 3_600_000;

interface Schedule {
  readonly everyMs: number;
  readonly offsetMs: number;
  options: ScheduleOptions;
  last: Run | undefined;
  /** When the last run began, and the count of happenings then. */
  lastMs: number;
  seen: number;
}

/** What a schedule says of itself, as far as the adapters read it. */
type Described = Pick<ScheduleOptions, 'spec' | 'action' | 'state'> & { readonly policies: object };

/** The server's schedules: intervals, with one run of each at a time. */
export class Schedules {
  readonly #schedules = new Map<string, Schedule>();

  constructor(
    private readonly kernel: Kernel,
    private readonly start: (type: string, workflowId: string, args: readonly unknown[]) => Run,
  ) {}

  /** @throws ScheduleAlreadyRunning */
  create(options: ScheduleOptions): void {
    const { scheduleId: id, spec } = options;
    if (this.#schedules.has(id)) throw new ScheduleAlreadyRunning('the schedule exists', id);
    const { intervals = [] } = spec as { intervals?: { every: Interval; offset?: Interval }[] };
    const [interval] = intervals;
    if (interval === undefined) throw new Error(`the simulated server knows intervals only: ${id}`);
    const { every, offset = 0 } = interval;
    const times = { everyMs: msToNumber(every), offsetMs: msToNumber(offset) };
    const begun = { last: undefined, lastMs: this.kernel.nowMs, seen: -1 };
    this.#schedules.set(id, { ...times, ...begun, options });
    this.#next(id);
  }

  /** @throws ScheduleNotFoundError */
  describe(id: string): Described {
    const { spec, action, state = {}, policies } = this.#find(id).options;
    const { catchupWindow: window = 0 } = (policies ?? {}) as { catchupWindow?: Interval };
    const catchupWindow = msToNumber(window);
    return { spec, action, state, policies: { ...policies, catchupWindow } };
  }

  /** @throws ScheduleNotFoundError */
  update(id: string, change: (now: Described) => ScheduleOptions): void {
    this.#find(id).options = change(this.describe(id));
  }

  /** @throws ScheduleNotFoundError */
  delete(id: string): void {
    this.#find(id);
    this.#schedules.delete(id);
  }

  #find(id: string): Schedule {
    const schedule = this.#schedules.get(id);
    if (schedule === undefined) throw new ScheduleNotFoundError('no such schedule', id);
    return schedule;
  }

  #next(id: string): void {
    const schedule = this.#schedules.get(id);
    if (schedule === undefined) return;
    const { everyMs, offsetMs } = schedule;
    const { nowMs } = this.kernel;
    const dueMs = (Math.floor((nowMs - offsetMs) / everyMs) + 1) * everyMs + offsetMs;
    const fire = (): void => {
      this.#fire(id, schedule);
      this.#next(id);
    };
    this.kernel.after(dueMs - nowMs, '', fire, { scope: quietScope });
  }

  /** Begins a run, unless the one before still runs, or nothing has happened that it could find. */
  #fire(id: string, schedule: Schedule): void {
    if (this.#schedules.get(id) !== schedule || schedule.last?.status === 'RUNNING') return;
    const { nowMs, happenings } = this.kernel;
    if (schedule.seen === happenings && nowMs - schedule.lastMs < CALM_MS) return;
    Object.assign(schedule, { seen: happenings, lastMs: nowMs });
    const { workflowType, args } = schedule.options.action as { workflowType: string; args?: unknown[] };
    const workflowId = `${id}-${new Date(nowMs).toISOString()}`;
    schedule.last = this.start(workflowType, workflowId, copyOf(args ?? []) as unknown[]);
  }
}
