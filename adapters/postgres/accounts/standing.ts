import type { UserId } from '../../../domain/ids.js';
import { isMarked } from '../payments/charge-marks.js';
import type { Database } from '../database.js';

/** How an account stands with the service: what keeps it from renting and paying, and what was taken back. */
export interface Standing {
  /** Why it is blocked, in an operator's words; null when it is not. */
  readonly blockedReason: string | null;
  /** Whether its card is not charged while its user is away (decision 79, "Charge marks"). */
  readonly chargesHeld: boolean;
  readonly reversals: readonly TakenBack[];
}

/** A payment that was taken back. Amounts in cents. */
export interface TakenBack {
  readonly kind: 'refund' | 'dispute';
  /** What the refund or dispute is about; what was taken for it may be less. */
  readonly amountCents: number;
  readonly debitedCents: number;
  readonly invoicedCents: number;
  readonly takenAt: Date;
}

/** For how long a reversal is told once nothing more is expected of it, in days. */
const TOLD_DAYS = 7;
const MOST = 10;

/** Reads how an account stands: its reversals are those of disputes that are open, and of the last days, newest first. */
export async function readStanding(db: Database, userId: UserId): Promise<Standing> {
  const fingerprint = `(select c.fingerprint from saved_cards c where c.user_id = u.id and c.removed_at is null)`;
  const [standing, reversals] = await Promise.all([
    db.raw<{ rows: Omit<Standing, 'reversals'>[] }>(
      `select block_of(u.id) as "blockedReason",
              ${isMarked('u.id', fingerprint)} as "chargesHeld"
         from users u where u.id = ?`,
      [userId],
    ),
    db.raw<{ rows: TakenBack[] }>(
      `select kind, amount_cents as "amountCents", debited_cents as "debitedCents",
              invoiced_cents as "invoicedCents", taken_at as "takenAt"
         from refunds_and_disputes
        where user_id = :userId and taken_at is not null and given_back_at is null
          and ((kind = 'dispute' and closed_at is null) or taken_at > clock_ms() - :days * interval '1 day')
        order by taken_at desc limit :most`,
      { userId, days: TOLD_DAYS, most: MOST },
    ),
  ]);
  const [row] = standing.rows;
  if (!row) throw new Error(`no user ${userId}`);
  return { ...row, reversals: reversals.rows };
}
