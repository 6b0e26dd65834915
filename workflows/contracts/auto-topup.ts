import type { UserId } from '../../domain/ids.js';

export interface AutoTopupInput {
  readonly userId: UserId;
  /** When to ask the processor itself if no event came, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}
