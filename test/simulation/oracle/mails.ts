import { Erased } from './erased.js';
import { told, type Evidence } from './evidence.js';

/** How long a mail may take while nothing is disturbed, whatever becomes of others, in milliseconds. */
const SOON_MS = 2 * 60_000;

interface MailRow {
  readonly id: string;
  readonly subject: string;
  readonly recipient: string;
  readonly created_ms: string;
  readonly sent_ms: string | null;
}

/**
 * Decision 36, "The mail outbox", and decision 69, "Items that fail": what counts as sent has arrived, and mails that are
 * refused keep no other back.
 */
export async function judgeMails({ ask, world, calmSinceMs, nowMs }: Evidence): Promise<string[]> {
  const rows = await ask<MailRow>(
    `select id, subject, recipient, extract(epoch from created_at) * 1000 as created_ms,
            extract(epoch from sent_at) * 1000 as sent_ms
       from mail_outbox order by id`,
  );
  const arrived = new Set(world.mails.map(({ messageId }) => messageId.split('@')[0]));
  return rows.flatMap(({ id, subject, recipient, created_ms: createdMs, sent_ms: sentMs }) => {
    const waitedMs = Number(sentMs ?? nowMs) - Number(createdMs);
    // What was delayed before may still wait for its next try.
    const isCalm = Number(createdMs) > calmSinceMs + SOON_MS && !world.refusing.has(recipient);
    const mail = `the mail “${subject}” to ${recipient}`;
    return [
      ...told(sentMs !== null && !arrived.has(`outbox-${id}`), `${mail} counts as sent, and never arrived`),
      ...told(isCalm && waitedMs > SOON_MS, `${mail} waited ${waitedMs} ms`),
    ];
  });
}

/**
 * Decision 36: whoever pays gets a receipt, and who is asked for a debt a mail of it: each is written with what it tells of.
 */
export async function judgeReceipts(evidence: Evidence): Promise<string[]> {
  const rows = await evidence.ask<{ mail: string; user_id: string }>(
    `select due.mail, due.user_id from (
       select 'receipt:' || substr(c.cause, length('payment:') + 1) as mail, w.user_id
         from ledger_causes c join wallets w on w.id = c.wallet_id
        where c.cause like 'payment:%'
       union all
       select 'invoice-opened:' || id, user_id from invoices where reason <> 'topup_failed' and finalized_at is not null
       union all
       select 'invoice-paid:' || id, user_id from invoices where reason <> 'topup_failed' and status = 'paid'
     ) due where not exists (select 1 from mail_outbox m where m.cause = due.mail) order by due.mail`,
  );
  const erased = await Erased.read(evidence);
  return erased.without(rows).map(({ mail }) => `the mail ${mail} was never written`);
}
