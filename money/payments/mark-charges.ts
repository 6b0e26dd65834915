import type { UserId } from '../../domain/ids.js';
import { chargeMarkMail } from '../../domain/mails/operators.js';
import { chargesHeldMail } from '../../domain/mails/payments.js';
import { wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { disableAutoTopup } from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { mailOperators, mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { ChargeMarkRow } from '../../adapters/postgres/rows/tables.js';
import { lockWalletOfUser } from '../ledger/wallets.js';

/** The user who denied a payment, and the card that paid it. */
export interface NewMark extends Pick<ChargeMarkRow, 'id' | 'kind'> {
  readonly chargeId: string;
  readonly userId: UserId | null;
  readonly fingerprint: string | null;
}

/**
 * Marks the user and the card of a payment that was disputed, or that its bank takes for fraud (decision 79, "Charge
 * marks"), once and in one transaction. Auto-topup goes off for the user and for everybody who has saved the same card.
 * They are told by mail and in the audit trail, and operators by mail.
 * @returns false when it was marked before, or there is nobody to mark
 */
export async function markCharges(
  db: Database,
  mark: NewMark,
  operatorEmail: string | null,
): Promise<boolean> {
  if (mark.userId === null && mark.fingerprint === null) return false;
  return db.transaction(async (trx) => {
    // The beginning of an auto-topup holds this lock while it looks for marks.
    if (mark.userId !== null) await lockWalletOfUser(trx, mark.userId);
    const inserted = await trx('charge_marks')
      .insert({
        id: mark.id,
        kind: mark.kind,
        charge_id: mark.chargeId,
        user_id: mark.userId,
        fingerprint: mark.fingerprint,
      })
      .onConflict('id')
      .ignore()
      .returning('id');
    if (inserted.length === 0) return false;
    // Of an account that is closed, the card becomes a number.
    if (mark.userId !== null) await wakeClosing(trx, mark.userId);
    const owners = await listOwners(trx, mark);
    for (const userId of owners) await holdCharges(trx, userId, mark);
    if (operatorEmail !== null) {
      const cause = { kind: 'charges_held', markId: mark.id, userId: null } as const;
      await mailOperators(trx, operatorEmail, cause, chargeMarkMail(mark, owners));
    }
    return true;
  });
}

/** Lists the payer and everybody who has saved the same card. */
async function listOwners(trx: Transaction, { userId, fingerprint }: NewMark): Promise<UserId[]> {
  const { rows } = await trx.raw<{ rows: { id: UserId }[] }>(
    `select u.id from users u
      where u.id = :userId
         or exists (select 1 from saved_cards c
                     where c.user_id = u.id and c.fingerprint = :fingerprint and c.removed_at is null)
      order by u.id`,
    { userId, fingerprint },
  );
  return rows.map(({ id }) => id);
}

async function holdCharges(trx: Transaction, userId: UserId, mark: NewMark): Promise<void> {
  await disableAutoTopup(trx, userId, 'charges_held');
  await insertAuditEvent(trx, {
    userId,
    kind: 'charges_held',
    entityId: `${mark.id}:${userId}`,
    details: { cause: mark.kind, reference: mark.id },
  });
  await mailUser(trx, userId, { kind: 'charges_held', markId: mark.id, userId }, chargesHeldMail(mark));
}
