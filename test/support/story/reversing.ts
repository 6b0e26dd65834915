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
}

/** The cents of a reversal that were debited, invoiced and written off. */
export function sums(row: RefundOrDisputeRow): [number, number, number] {
  return [row.debited_cents, row.invoiced_cents, row.written_off_cents];
}
