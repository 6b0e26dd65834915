import { ledgerEntryId } from '../../domain/ledger/ledger-ids.js';
import type { LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import type { RentalId } from '../../domain/ids.js';
import type { ChargeOccasion } from '../../domain/ledger/charge-derivation.js';
import type { LedgerEntryType } from '../../domain/ledger/ledger.js';

/** One change of a wallet; amounts in cents, signed. */
export interface Posting {
  readonly type: LedgerEntryType;
  readonly availableCents?: number;
  readonly reservedCents?: number;
  readonly rentalId?: RentalId;
  /** Of a `rental_charge`. */
  readonly occasion?: ChargeOccasion;
  readonly processorChargeId?: string;
  /** Now, unless a past is made up. */
  readonly at?: Date;
}

/** An entry, and what the service reads from its cause. */
export interface MockEntry extends LedgerEntry {
  readonly occasion: ChargeOccasion | undefined;
}

/**
 * A prepaid wallet and its ledger in memory. Only `post` writes entries, each with the balance right after it, so that
 * total = available + reserved = the newest entry's balance at any time.
 */
export class Wallet {
  #availableCents = 0;
  #reservedCents = 0;
  readonly #entries: MockEntry[] = [];

  constructor(
    readonly id: number,
    private readonly now: () => Date,
  ) {}

  get availableCents(): number {
    return this.#availableCents;
  }

  get reservedCents(): number {
    return this.#reservedCents;
  }

  get totalCents(): number {
    return this.#availableCents + this.#reservedCents;
  }

  /** Oldest first. */
  get entries(): readonly MockEntry[] {
    return this.#entries;
  }

  /** Writes one entry. @throws RangeError when the wallet holds less than the entry takes */
  post({
    type,
    availableCents = 0,
    reservedCents = 0,
    rentalId,
    processorChargeId,
    at,
    occasion,
  }: Posting): void {
    const amountCents = availableCents + reservedCents;
    if (amountCents === 0) return;
    this.#move(availableCents, reservedCents);
    const seq = this.#entries.length + 1;
    this.#entries.push({
      // The mock has no key: the number of its wallets is no secret.
      id: ledgerEntryId(this.id, seq),
      walletId: this.id,
      seq,
      type,
      amountCents,
      balanceAfterCents: this.totalCents,
      createdAt: at ?? this.now(),
      rentalId: rentalId ?? null,
      processorChargeId: processorChargeId ?? null,
      occasion,
    });
  }

  /** Moves cents from available to reserved, or back when negative. The total stays, so no entry is written. */
  hold(cents: number): void {
    this.#move(-cents, cents);
  }

  #move(availableCents: number, reservedCents: number): void {
    if (this.#availableCents + availableCents < 0 || this.#reservedCents + reservedCents < 0) {
      throw new RangeError(`wallet ${this.id} holds less than is to be taken`);
    }
    this.#availableCents += availableCents;
    this.#reservedCents += reservedCents;
  }
}
