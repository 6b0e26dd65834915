import { Account, Audit, Auth, Notices, SshKeys } from './nouns/account.js';
import { ApiKeys } from './nouns/api-keys.js';
import { AutoTopup, Card, Checkout, Invoices, Topups, Wallet } from './nouns/billing.js';
import { Catalog } from './nouns/catalog.js';
import { Events } from './nouns/events.js';
import { Quotes, Rentals } from './nouns/rentals.js';
import { Webhooks } from './nouns/webhooks.js';
import type { RouteRequest } from './request.js';
import { Transport, type CallOptions, type TransportOptions } from './transport.js';

/** The GPU rental API: each noun has its calls. */
export class GpuRental {
  readonly auth: Auth;
  readonly account: Account;
  readonly sshKeys: SshKeys;
  readonly apiKeys: ApiKeys;
  readonly catalog: Catalog;
  readonly quotes: Quotes;
  readonly rentals: Rentals;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly wallet: Wallet;
  readonly checkout: Checkout;
  readonly topups: Topups;
  readonly card: Card;
  readonly autoTopup: AutoTopup;
  readonly invoices: Invoices;
  readonly notices: Notices;
  readonly audit: Audit;
  readonly #transport: Transport;

  /** @throws TypeError when the address or the key can't be right */
  constructor(options: TransportOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.auth = new Auth(transport);
    this.account = new Account(transport);
    this.sshKeys = new SshKeys(transport);
    this.apiKeys = new ApiKeys(transport);
    this.catalog = new Catalog(transport);
    this.quotes = new Quotes(transport);
    this.events = new Events(transport);
    this.rentals = new Rentals(transport, this.events);
    this.webhooks = new Webhooks(transport);
    this.wallet = new Wallet(transport);
    this.checkout = new Checkout(transport);
    this.topups = new Topups(transport);
    this.card = new Card(transport);
    this.autoTopup = new AutoTopup(transport);
    this.invoices = new Invoices(transport);
    this.notices = new Notices(transport);
    this.audit = new Audit(transport);
  }

  /**
   * Calls any route by its path, such as one that is newer than this release. A change is sent again only where it
   * certainly was not begun.
   * @returns the answer, read as a whole; `onAnswer` is not told of it
   * @throws TypeError for a path that leads out of the API
   */
  async request(asked: RouteRequest, options?: CallOptions): Promise<Response> {
    // Few programs need it: a page loads it when it does.
    const { requestRoute } = await import('./request.js');
    return requestRoute(this.#transport, asked, options);
  }

  /** Where the API is. */
  get baseUrl(): string {
    return this.#transport.baseUrl;
  }

  /**
   * The cookies of the session, for `new GpuRental({ session })` later. They are a secret. Undefined without a session,
   * and in browsers, which keep them by themselves and show them to no page.
   */
  get session(): { readonly cookie: string } | undefined {
    return this.#transport.session;
  }
}
