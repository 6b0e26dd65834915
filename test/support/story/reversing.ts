import { isDeepStrictEqual } from 'node:util';
import { newId } from '../../../adapters/ids.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import type { RefundOrDisputeRow } from '../../../adapters/postgres/rows/tables.js';
import type { SignedIn } from '../http/api.js';
import type { TestService } from '../service/living-service.js';
import type { Paying } from './paying.js';
import { until } from '../until.js';

/** One user whose payments are refunded and disputed. */
export class Reversing {
  constructor(
    private readonly service: TestService,
    private readonly paying: Paying,
    readonly user: SignedIn,
  ) {}

  /** A payment of the user that was credited to their wallet. */
  async paid(cents: number, method = 'pm_card_visa'): Promise<{ paymentId: string; chargeId: string }> {
    await this.paying.saveCard(this.user, method);
    const { body } = await this.paying.checkout(this.user, cents);
    const topup = await this.paying.topup(body.topupId);
    return { paymentId: topup.payment_id!, chargeId: topup.charge_id! };
  }

  /** Takes this much out of the user's wallet, as if spent. Below zero: adds it. */
  async spend(cents: number): Promise<void> {
    await this.service.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, this.user.user.id);
      const cause = { kind: 'operation', operationId: newId('op') } as const;
      await post(trx, wallet, { type: 'adjustment', availableCents: -cents, cause });
    });
  }

  row(id: string): Promise<RefundOrDisputeRow | undefined> {
    return this.service.db('refunds_and_disputes').where({ id }).first();
  }

  /** Waits until a column of the row is set. */
  async awaitRow(
    id: string,
    column: 'taken_at' | 'given_back_at' | 'closed_at',
  ): Promise<RefundOrDisputeRow> {
    return until(`${column} of ${id} is set`, async () => {
      const found = await this.row(id);
      return found?.[column] ? found : undefined;
    });
  }

  async invoices(): Promise<[reason: string, cents: number, status: string][]> {
    const rows = await this.service.db('invoices').where({ user_id: this.user.user.id }).orderBy('id');
    return rows.map(({ reason, amount_cents: cents, status }) => [reason, cents, status]);
  }

  /** Waits until the user has these invoices: each is voided by its own workflow, after the reversal came back. */
  async awaitInvoices(expected: [reason: string, cents: number, status: string][]): Promise<void> {
    await until('the invoices have followed', async () => isDeepStrictEqual(await this.invoices(), expected));
  }
}

/** The cents of a reversal that were debited, invoiced and written off. */
export function sums(row: RefundOrDisputeRow): [number, number, number] {
  return [row.debited_cents, row.invoiced_cents, row.written_off_cents];
}
