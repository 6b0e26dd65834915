import { closedAddressSql } from '../../../domain/accounts/closing.js';
import { erasures } from '../../../domain/accounts/erasure.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { removeWebhook } from '../webhooks/endpoints.js';
import { beginErasing, statementOf } from './erasing.js';

/**
 * Shuts out somebody whom a restored database brought back, in one short transaction: nothing lets them in any more, their
 * address is free, and nothing more is sent to them. Their words are erased later, by the address that their closing
 * keeps until then. It may run again.
 */
export async function shutOut(db: Database, userId: UserId): Promise<void> {
  await db.transaction(async (trx) => {
    const user = await trx('users').where({ id: userId }).forUpdate().first('email');
    if (!user) throw new Error(`no user ${userId}`);
    const { email } = user;
    await trx('account_closings').where({ user_id: userId }).update({ former_email: email });
    await beginErasing(trx);
    for (const erasure of erasures.filter(({ opens }) => opens))
      await trx.raw(statementOf(erasure), { userId, email });
    await trx('mail_outbox').where({ recipient: email }).whereNull('sent_at').delete();
    const hooks = trx('webhooks').where({ user_id: userId }).whereNot({ state: 'removed' });
    for (const hook of await hooks.orderBy('id').forUpdate()) await removeWebhook(trx, hook);
    await trx.raw(`update users t set email = ${closedAddressSql} where id = ?`, [userId]);
  });
}
