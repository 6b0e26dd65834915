import { latestAutoStop, type AskedChange } from '../../domain/rentals/changes.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import type { ApiContext } from '../context.js';
import { instantField, joi, fields, nullable, wholeFrom, type Read } from '../http/fields.js';
import { fieldRefusal, readBody } from '../http/validation.js';
import { namesIn, noWords } from '../../domain/rentals/words.js';
import { changedWords, readWords } from './word-fields.js';
import { changedGuard, readGuard } from './idle-guard.js';
import { autoStopMs } from './request.js';

const { autoStopMaxHours, maxLimitCents } = rentalLimits;

/**
 * What PATCH /v1/rentals/:id may ask for (decision 105, "Changed rentals"). What is sent is changed, to just that; null takes a text or a limit
 * away.
 */
export const changeSchema = fields({
  ...changedWords,
  maxSpendCents: nullable(wholeFrom(1, maxLimitCents)),
  autoStopAt: nullable(instantField),
  autoStopAfterHours: nullable(joi.number().greater(0).max(autoStopMaxHours)),
  ...changedGuard,
})
  .min(1)
  .messages({
    'object.min': `send at least one of ${namesIn(noWords).join(', ')}, maxSpendCents, autoStopAt, autoStopAfterHours and stopWhenIdleMinutes`,
  })
  .meta({ jsonSchema: { minProperties: 1, not: { required: ['autoStopAt', 'autoStopAfterHours'] } } });

type ChangeBody = Read<typeof changeSchema>;

/**
 * Reads what is asked for.
 * @throws Refusal validation_failed naming the field
 */
export function readChange(ctx: ApiContext): { body: ChangeBody; asked: AskedChange } {
  const body = readBody(ctx, changeSchema);
  const { maxSpendCents, autoStopAt, autoStopAfterHours: hours } = body;
  if (autoStopAt !== undefined && hours !== undefined) {
    throw fieldRefusal('autoStopAt', 'autoStopAt can’t be combined with autoStopAfterHours');
  }
  const idleGuard = readGuard(body);
  const asked: AskedChange = {
    ...readWords(body),
    ...(maxSpendCents !== undefined && { maxSpendCents }),
    ...autoStopOf(body),
    ...(idleGuard !== undefined && { idleGuard }),
  };
  return { body, asked };
}

function autoStopOf({ autoStopAt, autoStopAfterHours: hours }: ChangeBody): AskedChange {
  if (autoStopAt !== undefined) return { autoStopAt: autoStopAt?.toISOString() ?? null };
  return hours === undefined ? {} : { autoStopAfterMs: hours === null ? null : autoStopMs(hours) };
}

/** @throws Refusal validation_failed for a stop later than 720 hours after the beginning of billing */
export function refuseTooLate({ autoStopAt }: AskedChange, runningAt: Date | null, now: Date): void {
  const latest = latestAutoStop(runningAt, now);
  if (typeof autoStopAt !== 'string' || new Date(autoStopAt) <= latest) return;
  throw fieldRefusal(
    'autoStopAt',
    `autoStopAt may be at most ${autoStopMaxHours} hours after billing began: ${latest.toISOString()} or earlier`,
  );
}
