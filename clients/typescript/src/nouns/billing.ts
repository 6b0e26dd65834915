import { byCursor, type Paged } from '../pages.js';
import type {
  AutoTopup as AutoTopupSettings,
  Balance,
  BillingConfig,
  BillingDetails,
  Budget,
  Card as SavedCard,
  CardSetup,
  Checkout as CheckoutAnswer,
  CreateCheckout,
  Explanation,
  Invoice,
  LedgerEntry,
  LedgerEntryPage,
  LedgerRoot,
  PayUrl,
  PutAutoTopup,
  PutBillingDetails,
  PutBudget,
  Spending,
  Standing,
  Statement,
  StoredAutoTopup,
  Topup,
  TopupPage,
} from '../schema.js';
import type { CallOptions, SendForFile } from '../transport.js';
import { newIdempotencyKey } from '../new-key.js';
import { createOrLookUp } from './look-up.js';
import { Noun } from './noun.js';
import type { KeyedOptions } from './rentals.js';
import type { QueryOf } from './query.js';

function sendForCsv(query: QueryOf<'/v1/billing/ledger.csv'>): SendForFile {
  return (api, init) => api.GET('/v1/billing/ledger.csv', { ...init, params: { query }, parseAs: 'stream' });
}

function sendForProof(query: QueryOf<'/v1/billing/proof'>): SendForFile {
  return (api, init) => api.GET('/v1/billing/proof', { ...init, params: { query }, parseAs: 'stream' });
}

/** The prepaid wallet and its ledger. */
export class Wallet extends Noun {
  /** What is available, what is held, and how long it lasts. */
  get(options?: CallOptions): Promise<Balance> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/balance', init));
  }

  /** Currency, limits and whether payments are switched on. */
  config(options?: CallOptions): Promise<BillingConfig> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/config', init));
  }

  /** Whether the account is blocked or its card is not charged, and which payments were reversed. */
  standing(options?: CallOptions): Promise<Standing> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/standing', init));
  }

  /** Each change of the wallet, newest first. */
  ledger(
    query: QueryOf<'/v1/billing/ledger'> = {},
    options?: CallOptions,
  ): Paged<LedgerEntry, LedgerEntryPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/billing/ledger', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ entries }) => entries,
    );
  }

  /** The ledger as CSV, oldest first. */
  ledgerCsv(query: QueryOf<'/v1/billing/ledger.csv'> = {}, options?: CallOptions): Promise<string> {
    return this.text(options, sendForCsv(query));
  }

  /** The ledger as CSV in pieces: one of millions of entries need not fit into memory. */
  ledgerCsvStream(
    query: QueryOf<'/v1/billing/ledger.csv'> = {},
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.pieces('read', options, sendForCsv(query));
  }

  /** The proof of a month such as 2026-10, which `gpu verify` judges. */
  proof(query: QueryOf<'/v1/billing/proof'>, options?: CallOptions): Promise<string> {
    return this.text(options, sendForProof(query));
  }

  /** The proof of a month in pieces. */
  proofStream(
    query: QueryOf<'/v1/billing/proof'>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.pieces('read', options, sendForProof(query));
  }

  /** The signed roots of all ledgers with a higher number, oldest first. */
  roots(
    query: QueryOf<'/v1/ledger/roots'> = {},
    options?: CallOptions,
  ): Promise<{ readonly roots: readonly LedgerRoot[] }> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/ledger/roots', { ...init, params: { query } }),
    );
  }

  /** Why an entry was written, with the sum that gives it. */
  explain(id: string, options?: CallOptions): Promise<Explanation> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/ledger/{id}/explain', { ...init, params: { path: { id } } }),
    );
  }

  /** What may be spent in a month, and what was. */
  budget(options?: CallOptions): Promise<Budget> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/budget', init));
  }

  saveBudget(body: PutBudget, options?: CallOptions): Promise<Budget> {
    return this.call('same', options, (api, init) => api.PUT('/v1/billing/budget', { ...init, body }));
  }

  /** Whom statements and receipts are made out to. */
  details(options?: CallOptions): Promise<BillingDetails> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/details', init));
  }

  /** Sets them; what is left out is removed. */
  saveDetails(body: PutBillingDetails, options?: CallOptions): Promise<BillingDetails> {
    return this.call('same', options, (api, init) => api.PUT('/v1/billing/details', { ...init, body }));
  }

  /** What rentals cost, by day (UTC). */
  spending(query: QueryOf<'/v1/billing/spending'>, options?: CallOptions): Promise<Spending> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/spending', { ...init, params: { query } }),
    );
  }

  /** The sums of a span of time. */
  statement(query: QueryOf<'/v1/billing/statement'>, options?: CallOptions): Promise<Statement> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/statement', { ...init, params: { query } }),
    );
  }
}

/** Money in. */
export class Checkout extends Noun {
  /**
   * Opens a payment page, or charges the saved card. It is sent again under its Idempotency-Key alone, and where the
   * service knows the top-up's id but not its outcome, that top-up is looked up and no other one is made.
   * @throws ApiError: with an outcome that stayed unknown, `details` names the top-up's id
   */
  create(body: CreateCheckout, options?: KeyedOptions): Promise<CheckoutAnswer> {
    const header = { 'Idempotency-Key': options?.idempotencyKey ?? newIdempotencyKey() };
    return createOrLookUp(
      options?.signal,
      this.endOf(options),
      () =>
        this.call('keyed', options, (api, init) => {
          const sent = api.POST('/v1/billing/checkout', { ...init, body, params: { header } });
          // openapi-fetch's types lose fields that are always null.
          return sent as Promise<{ data?: CheckoutAnswer; error?: unknown; response: Response }>;
        }),
      async (id, rest) => checkoutOf(await this.#topup(id, rest)),
    );
  }

  #topup(id: string, options: CallOptions): Promise<Topup> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/topups/{id}', { ...init, params: { path: { id } } }),
    );
  }
}

function checkoutOf(topup: Topup): CheckoutAnswer {
  const { id: topupId, status, checkoutUrl, sessionId, amountCents, processorChargeId } = topup;
  if (checkoutUrl !== null && sessionId !== null) return { checkoutUrl, sessionId, topupId, status };
  return { checkoutUrl: null, sessionId: null, topupId, status, amountCents, processorChargeId };
}

export class Topups extends Noun {
  /** Newest first. */
  list(query: QueryOf<'/v1/billing/topups'> = {}, options?: CallOptions): Paged<Topup, TopupPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/billing/topups', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ topups }) => topups,
    );
  }

  /** The receipt of a top-up that was paid, as a PDF. */
  receipt(id: string, options?: CallOptions): Promise<ArrayBuffer> {
    return this.file(options, (api, init) =>
      api.GET('/v1/billing/topups/{id}/receipt', { ...init, params: { path: { id } }, parseAs: 'stream' }),
    );
  }

  get(id: string, options?: CallOptions): Promise<Topup> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/topups/{id}', { ...init, params: { path: { id } } }),
    );
  }
}

/** The saved card. Its number goes to the payment processor alone. */
export class Card extends Noun {
  /** All fields are null when there is none. */
  get(options?: CallOptions): Promise<SavedCard> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/card', init));
  }

  /** Begins saving a card: the secret is for the processor's own form. */
  setUp(options?: CallOptions): Promise<CardSetup> {
    return this.call('read', options, (api, init) => api.POST('/v1/billing/setup-intent', init));
  }

  delete(options?: CallOptions): Promise<void> {
    return this.remove(options, (api, init) => api.DELETE('/v1/billing/card', init));
  }
}

/** Charges the saved card when little money is left. */
export class AutoTopup extends Noun {
  get(options?: CallOptions): Promise<AutoTopupSettings> {
    return this.call('read', options, (api, init) => api.GET('/v1/billing/auto-topup', init));
  }

  save(body: PutAutoTopup, options?: CallOptions): Promise<StoredAutoTopup> {
    return this.call('same', options, (api, init) => api.PUT('/v1/billing/auto-topup', { ...init, body }));
  }
}

export class Invoices extends Noun {
  /** Newest first. */
  async list(query: QueryOf<'/v1/billing/invoices'> = {}, options?: CallOptions): Promise<Invoice[]> {
    const { data } = await this.call('read', options, (api, init) =>
      api.GET('/v1/billing/invoices', { ...init, params: { query } }),
    );
    return data;
  }

  get(id: string, options?: CallOptions): Promise<Invoice> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/invoices/{id}', { ...init, params: { path: { id } } }),
    );
  }

  /** The page on which it is paid. */
  payUrl(id: string, options?: CallOptions): Promise<PayUrl> {
    return this.call('read', options, (api, init) =>
      api.GET('/v1/billing/invoices/{id}/pay-url', { ...init, params: { path: { id } } }),
    );
  }
}
