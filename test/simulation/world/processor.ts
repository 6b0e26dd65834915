import type Stripe from 'stripe';
import type { Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor, type StripeConfig } from '../../../adapters/processor/stripe.js';
import { within } from '../../../adapters/within.js';
import {
  admit,
  answerAtOnce,
  findKept,
  perform,
  type ApiAnswer,
  type ApiDeps,
  type ApiRequest,
} from '../../../lab/processor/api.js';
import { numberOfCard } from '../../../lab/processor/cards/cards.js';
import { saveByPage } from '../../../lab/processor/cards/setup-page.js';
import { expireSessions, payPage, type PageOutcome } from '../../../lab/processor/checkout/checkout-page.js';
import { Faults } from '../../../lab/processor/faults.js';
import { idOf } from '../../../lab/processor/ids.js';
import type { World as Lab } from '../../../lab/processor/http/endpoint.js';
import { Idempotency } from '../../../lab/processor/http/idempotency.js';
import { payInvoicePage } from '../../../lab/processor/invoices/invoice-page.js';
import { Store } from '../../../lab/processor/store.js';
import type { Delivery, LabEvent } from '../../../lab/processor/tables.js';
import { configureEndpoint } from '../../../lab/processor/webhooks/webhook-endpoints.js';
import { createWorld } from '../../../lab/processor/world.js';
import type { Chance } from '../kernel/chance.js';
import type { Kernel } from '../kernel/kernel.js';
import { Bank } from './bank.js';
import type { Outside } from './outside.js';
import { Returns } from './returns.js';
import { Reversals } from './reversals.js';
import { sentKinds, Truth } from './truth.js';

type Client = NonNullable<StripeConfig['client']>;

const apiUrl = 'https://processor.example';
const secretKey = 'sk_test_simulation';
/** So many cards of a thousand expire at the end of the month. */
const SOON_OVER = 250;

/** The lab's processor in this process: the service reaches it by the real adapter, over a way on which requests get lost. */
export class SimulatedProcessor {
  readonly truth: Truth;
  readonly bank: Bank;
  readonly reversals: Reversals;
  readonly returns: Returns;
  /** Sends an event to the service. */
  onEvent: (event: LabEvent) => void = () => undefined;
  readonly #lab: Lab;
  readonly #api: ApiDeps;
  #cards = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly chance: Chance,
    private readonly outside: Outside,
  ) {
    const store = new Store(null);
    const now = (): number => Math.floor(kernel.nowMs / 1_000);
    const parts = { kernel, chance, lab: () => this.#lab };
    const isUnknown = (charge: Stripe.Charge): boolean =>
      this.returns.unknown.has(idOf(charge.payment_intent) ?? '');
    this.truth = new Truth(store);
    this.bank = new Bank(parts);
    this.reversals = new Reversals({ ...parts, isUnknown });
    this.returns = new Returns(parts);
    this.#lab = createWorld({
      ...{ store, now, faults: new Faults(), bank: this.bank.word },
      deliveries: { send: (deliveries) => deliveries.forEach((one) => this.#tell(one)) },
    });
    configureEndpoint(store, now(), { url: 'https://gpu.example', secret: '' });
    this.#api = {
      ...{ world: this.#lab, idempotency: new Idempotency(store, now), secretKey },
      ...{ publishableKey: 'pk_test_simulation', baseUrl: () => apiUrl },
    };
  }

  /** The port by which a process of the service sees it. */
  port(): Processor {
    return createStripeProcessor({ secretKey, apiUrl, client: this.#client() });
  }

  /** A payer pays a hosted page, if it is still open. */
  payPage(url: string, keepsCard: boolean): void {
    const form = this.#cardForm();
    if (keepsCard) form.set('save', 'on');
    paid(payPage(this.#lab, lastOf(url), form));
  }

  /** A user's browser confirms the setup of a card. */
  confirmSetup(clientSecret: string): void {
    const [setupId = ''] = clientSecret.split('_secret_');
    paid(saveByPage(this.#lab, setupId, clientSecret, this.#cardForm(), null));
  }

  /** A user pays the mirror of one of our invoices on its page, if it is there. */
  payInvoice(ourId: string): void {
    const { id } = this.truth.invoices.find((invoice) => invoice.ourId === ourId) ?? {};
    const invoice = this.#lab.store.find('invoices', id ?? '');
    if (invoice?.status === 'open') paid(payInvoicePage(this.#lab, invoice, this.#cardForm()));
  }

  /** Each card is another one. */
  #cardForm(): URLSearchParams {
    const now = new Date(this.kernel.nowMs);
    const month = `${now.getUTCMonth() + 1}/${now.getUTCFullYear()}`;
    this.#cards += 1;
    return new URLSearchParams({
      cardNumber: numberOfCard(this.#cards),
      cardExpiry: this.chance.perMille(SOON_OVER) ? month : '12/2040',
      cardCvc: '123',
    });
  }

  #tell({ eventId }: Delivery): void {
    const event = this.#lab.store.find('events', eventId);
    if (event === undefined) return;
    if (event.type === 'charge.succeeded') this.reversals.draw((event.data.object as Stripe.Charge).id);
    if (event.type === 'refund.created') this.returns.draw(event.data.object as Stripe.Refund);
    if (sentKinds.test(event.type)) this.onEvent(event);
  }

  #client(): Client {
    return {
      getClientName: () => 'simulation',
      makeRequest: async (_host, _port, url, method, headers, body, _protocol, timeoutMs) => {
        const [path = '', query = ''] = url.split('?');
        const request = { method, path, query, headers: smallNames(headers), body };
        const name = `${method} ${path.split('/')[2] ?? ''}`;
        const answer = (): ApiAnswer => this.#answer(request);
        this.returns.look(request);
        const asked = this.returns.delays(request, answer)
          ? new Promise<never>(() => undefined)
          : this.outside.call('processor', name, answer);
        return responseOf(await within(timeoutMs, asked, timedOut));
      },
    };
  }

  #answer(request: ApiRequest): ApiAnswer {
    // Pages that are over expire by themselves; nobody can tell before they ask.
    expireSessions(this.#lab);
    const refusal = this.returns.refusalOf(request);
    return refusal === undefined ? answerAtOnce(this.#api, request) : this.#refuse(request, refusal);
  }

  /** Refuses a request, and keeps that under its key, if it has one. One that was answered before is answered so again. */
  #refuse(request: ApiRequest, code: string): ApiAnswer {
    const admitted = admit(this.#api, request, 'req_refused');
    const status = code === 'resource_missing' ? 404 : 400;
    const body = JSON.stringify({ error: { type: 'invalid_request_error', code, message: code } });
    const answer = findKept(this.#api, admitted) ?? perform(this.#api, admitted, { status, body });
    return { headers: {}, ...answer };
  }
}

/** Pages show what was wrong with a status; nobody here sends a form that is. A closing ends the pages that are open (410). */
function paid(outcome: PageOutcome): void {
  if ('status' in outcome && ![200, 409, 410].includes(outcome.status))
    throw new Error(`a page is not paid: ${outcome.title} (${outcome.status})`);
}

function lastOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

function smallNames(headers: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), String(value)]),
  );
}

function timedOut(): Error {
  return Object.assign(new Error('the processor is silent'), { code: 'ETIMEDOUT' });
}

function responseOf(answer: ApiAnswer): Awaited<ReturnType<Client['makeRequest']>> {
  return {
    getStatusCode: () => answer.status,
    getHeaders: () => answer.headers,
    getRawResponse: () => ({ headers: answer.headers }),
    toStream: () => {
      throw new Error('nothing is streamed here');
    },
    toJSON: () => Promise.resolve(JSON.parse(answer.body) as unknown),
  };
}
