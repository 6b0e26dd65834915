import type { Page } from 'playwright-core';
import { cardPolicy } from '../../../api/service/dashboard/policies.js';

/** The numbers that the stand-in knows, as the processor's test cards are (docs.stripe.com/testing). */
export const cardNumbers = {
  works: '4242424242424242',
  declined: '4000000000000002',
  /** Its bank asks on a page of its own, and says yes. */
  approved: '4000002500003155',
  /** Its bank asks, and its owner says no. */
  refused: '4000008400001629',
  /** The processor does not answer. */
  silent: '4000000000000010',
  /** A press before has saved it. */
  savedBefore: '4000000000000028',
} as const;

export const clientSecret = 'seti_1_secret_9f8e7d';

/** What the page asked of the processor's script. */
export interface ProcessorCalls {
  readonly publishableKeys: string[];
  readonly elements: {
    clientSecret: string;
    appearance: { theme: string; variables: Record<string, string> };
  }[];
  readonly confirmed: { clientSecret: string; returnUrl: string; redirect: string }[];
}

/**
 * Serves the card's document as a service does that has the real processor, and a stand-in for the processor's script
 * and the frame of its form: it refuses what the real one refuses (docs.stripe.com/js), and writes style attributes.
 */
export async function standInForProcessor(
  page: Page,
  options: { loads?: boolean; formFails?: boolean } = {},
): Promise<void> {
  await page.route('**/app/card', async (route) => {
    const response = await route.fetch();
    const policy = cardPolicy({ apiOrigin: undefined, takesCards: true });
    await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
  });
  await page.route('**/v1/billing/setup-intent', (route) =>
    route.fulfill({ json: { clientSecret, publishableKey: 'pk_test_standin', pageUrl: null } }),
  );
  await page.route('https://js.stripe.com/**', (route, request) => {
    if (options.loads === false) return route.abort();
    const isFrame = request.url().endsWith('.html');
    return route.fulfill({
      body: isFrame
        ? frame
        : `const __name = (it) => it; (${processorScript.toString()})(${JSON.stringify({ numbers: cardNumbers, formFails: options.formFails ?? false })})`,
      contentType: isFrame ? 'text/html' : 'text/javascript',
    });
  });
}

/** Reads what the page has asked of the script. */
export function callsOf(page: Page): Promise<ProcessorCalls> {
  return page.evaluate(() => (globalThis as unknown as { standInCalls: ProcessorCalls }).standInCalls);
}

const frame = `<!doctype html><label>Card number <input id="n" inputmode="numeric"></label>
<script>
  const tell = (kind) => parent.postMessage({ kind, number: document.getElementById('n').value.replaceAll(' ', '') }, '*');
  document.getElementById('n').addEventListener('input', () => tell('change'));
  addEventListener('load', () => tell('ready'));
</script>`;

interface StandInOptions {
  readonly numbers: typeof cardNumbers;
  readonly formFails: boolean;
}

type Listener = (event: object) => void;

/** Runs in the browser, in place of the processor's script: it must stand alone. */
function processorScript({ numbers, formFails }: StandInOptions): void {
  const calls = { publishableKeys: [] as string[], elements: [] as object[], confirmed: [] as object[] };
  const misuse = (text: string): Error => Object.assign(new Error(text), { name: 'IntegrationError' });
  let number = '';

  function createElement(type: string) {
    if (type !== 'payment') throw misuse(`no element ${type}`);
    const listeners: Record<string, Listener[]> = {};
    const tell = (event: string, what: object): void =>
      (listeners[event] ?? []).forEach((hear) => hear(what));
    let inner: HTMLIFrameElement | undefined;
    const hear = ({ data, source }: MessageEvent<{ kind: string; number: string }>): void => {
      if (source !== inner?.contentWindow) return;
      number = data.number;
      if (data.kind === 'ready' && formFails) tell('loaderror', { error: { type: 'api_connection_error' } });
      else tell(data.kind, { elementType: 'payment', complete: number.length === 16 });
    };
    return {
      on: (event: string, listener: Listener) => (listeners[event] ??= []).push(listener),
      mount(place: unknown) {
        if (!(place instanceof HTMLElement)) throw misuse('nowhere to mount');
        inner = document.createElement('iframe');
        inner.title = 'Secure payment input frame';
        inner.src = 'https://js.stripe.com/dahlia/elements-inner-payment.html';
        inner.setAttribute('style', 'border: 0; width: 100%; height: 120px');
        addEventListener('message', hear);
        place.append(inner);
      },
      destroy() {
        removeEventListener('message', hear);
        inner?.remove();
      },
    };
  }

  interface Confirm {
    elements: { secret: string };
    clientSecret?: string;
    confirmParams?: { return_url?: string };
    redirect?: string;
  }

  function confirmSetup({
    elements,
    clientSecret,
    confirmParams,
    redirect = 'always',
  }: Confirm): Promise<object> {
    const secret = clientSecret ?? elements.secret;
    const returnUrl = confirmParams?.return_url;
    if (secret !== elements.secret) throw misuse('the secret is not that of the elements');
    if (returnUrl === undefined || !/^https?:/.test(returnUrl)) throw misuse('return_url must be absolute');
    calls.confirmed.push({ clientSecret: secret, returnUrl, redirect });
    const goBack = (status: string): Promise<object> => {
      const back = new URL(returnUrl);
      back.searchParams.set('setup_intent', secret.split('_secret_')[0] ?? '');
      back.searchParams.set('setup_intent_client_secret', secret);
      back.searchParams.set('redirect_status', status);
      location.assign(back);
      return new Promise(() => undefined);
    };
    const answers: Readonly<Record<string, () => object | Promise<object>>> = {
      [numbers.works]: () =>
        redirect === 'if_required' ? { setupIntent: { status: 'succeeded' } } : goBack('succeeded'),
      [numbers.declined]: () => ({
        error: { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' },
      }),
      [numbers.approved]: () => goBack('succeeded'),
      [numbers.refused]: () => goBack('failed'),
      [numbers.silent]: () => ({
        error: { type: 'api_connection_error', message: 'ECONNRESET at socket.js:1' },
      }),
      [numbers.savedBefore]: () => ({
        error: { type: 'invalid_request_error', setup_intent: { status: 'succeeded' } },
      }),
    };
    const incomplete = { error: { type: 'validation_error', message: 'Your card number is incomplete.' } };
    return Promise.resolve(answers[number]?.() ?? incomplete);
  }

  const stripe = (key: string) => {
    if (!/^pk_(test|live)_/.test(key)) throw misuse('that is no publishable key');
    calls.publishableKeys.push(key);
    return {
      elements(options: { clientSecret?: string }) {
        if (!/^seti_\w+_secret_\w+$/.test(options.clientSecret ?? ''))
          throw misuse('that is no client secret');
        calls.elements.push(options);
        return { secret: options.clientSecret, create: createElement };
      },
      confirmSetup,
    };
  };
  Object.assign(globalThis, { Stripe: stripe, standInCalls: calls });
}
