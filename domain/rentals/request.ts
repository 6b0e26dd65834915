import type { ApiKeyId, SshKeyId, UserId } from '../ids.js';
import type { IdleGuard } from './idle-guard.js';
import type { SoftwareOutline } from './software.js';
import type { RentalWords } from './words.js';

/** A user's request to rent; the API validates it. Words that were not sent are absent. */
export interface RentalRequest extends Partial<RentalWords> {
  readonly userId: UserId;
  readonly familyId: string;
  readonly gpuCount: number;
  readonly templateId: string;
  /** ISO country code, or us, eu, apac; null for anywhere. */
  readonly region: string | null;
  readonly sshKeyIds: readonly SshKeyId[];
  readonly autoStopAfterMs: number | null;
  readonly maxSpendCents: number | null;
  readonly maxPricePerHourCents: number | null;
  /** Public keys of this rental alone, beside those that are stored. Absent where none were sent. */
  readonly sshPublicKeys?: readonly string[];
  /** The characters of all its keys (`keysCharsOf`). */
  readonly keysChars?: number;
  /** What runs instead of the template or beside it; absent: nothing of the renter's own. */
  readonly software?: SoftwareOutline;
  /** Absent: it does not stop for being idle. */
  readonly idleGuard?: IdleGuard | undefined;
  /** Whether the use of the machine is to be told, by a reporter on it where its upstream tells nothing. */
  readonly telemetry?: boolean;
  /** The API key that asks; absent for a session (decision 108, "API keys"). */
  readonly apiKeyId?: ApiKeyId;
}
