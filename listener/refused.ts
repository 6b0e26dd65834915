import { HOUR } from '../domain/durations.js';
import { machineCallLimits } from '../domain/machines/calls.js';
import { idleGuardLimits } from '../domain/rentals/idle-guard.js';

const { keepAliveAheadMs, keepAlivesADay } = idleGuardLimits;

/** What the listener refuses, and how it says so. Machines read the status alone; people read the rest. */
const refusals = {
  unauthorized: [401, 'This token does nothing now.'],
  not_found: [404, 'Nothing is here. Machines call the paths below /v1/machine.'],
  report_repeated: [409, 'This very report is here already. Send each with something new in it.'],
  body_too_large: [413, `A report has at most ${machineCallLimits.bodyMaxBytes} bytes.`],
  report_unreadable: [
    400,
    'A report is a text in UTF-8, and not empty. One of use begins with gpu-use 1 and the uptime.',
  ],
  time_unreadable: [400, `Say how long, such as 2h or 90m; ${keepAliveAheadMs / HOUR}h at most.`],
  no_idle_guard: [409, 'This machine has no idle guard, so it does not stop for being idle.'],
  rental_ending: [409, 'This machine is ending, so it cannot be kept alive.'],
  too_many_keep_alives: [
    429,
    `This machine was kept alive ${keepAlivesADay} times in a day. Give its guard more minutes on your computer: gpu extend`,
    3_600,
  ],
  too_many_reports: [429, 'A machine may send ten reports a minute. Send the next one in a minute.', 60],
  too_many_requests: [429, 'Too many requests came from this address. Try again in a minute.', 60],
  internal_error: [500, 'Something went wrong here. Try again.'],
  temporarily_unavailable: [503, 'The database does not answer. Try again.', 5],
} as const satisfies Record<string, readonly [status: number, message: string, retryAfterSeconds?: number]>;

/** A request that is answered by a refusal. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly body: { readonly error: string; readonly message: string };
  readonly retryAfterSeconds: number | undefined;

  constructor(code: keyof typeof refusals) {
    const [status, message, retryAfterSeconds]: readonly [number, string, number?] = refusals[code];
    super(message);
    this.status = status;
    this.body = { error: code, message };
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Ends a request. @throws Refused */
export function refuse(code: keyof typeof refusals): never {
  throw new Refused(code);
}
