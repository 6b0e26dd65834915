/**
 * The part of the payment processor's script that is used here (https://docs.stripe.com/js). It may only be run as it
 * comes from there, and is in no package of ours.
 */

/** A failure, of the form or of the card. */
export interface StripeError {
  readonly type: string;
  readonly code?: string;
  /** For the card's owner, where the type is `card_error` or `validation_error`. */
  readonly message?: string;
  /** The setup as it is, where it was confirmed before. */
  readonly setup_intent?: { readonly status: string };
}

export interface PaymentElement {
  mount(place: HTMLElement): void;
  destroy(): void;
  on(event: 'ready', listener: () => void): void;
  on(event: 'change', listener: (change: { readonly complete: boolean }) => void): void;
  on(event: 'loaderror', listener: (failure: { readonly error: StripeError }) => void): void;
}

export interface StripeElements {
  create(type: 'payment', options: { readonly layout: 'tabs' }): PaymentElement;
}

export interface Appearance {
  readonly theme: 'stripe' | 'night';
  readonly variables: Readonly<Record<string, string>>;
}

export interface Stripe {
  elements(options: {
    readonly clientSecret: string;
    readonly appearance: Appearance;
    readonly loader: 'always';
  }): StripeElements;
  /** Sends the browser to the bank only where that is needed; answers otherwise. */
  confirmSetup(options: {
    readonly elements: StripeElements;
    readonly clientSecret: string;
    readonly confirmParams: { readonly return_url: string };
    readonly redirect: 'if_required';
  }): Promise<
    | { readonly error: StripeError; readonly setupIntent?: undefined }
    | { readonly setupIntent: { readonly status: string }; readonly error?: undefined }
  >;
}

export type MakeStripe = (publishableKey: string) => Stripe;

/** The release that speaks the version of the API with which the service asks (docs.stripe.com/js, Versioning). */
const ADDRESS = 'https://js.stripe.com/dahlia/stripe.js';
const LOADED_WITHIN_MS = 20_000;

let loading: Promise<MakeStripe> | undefined;

/**
 * Loads the processor's script, once; after a failure the next call tries again.
 * @throws Error when it does not come
 */
export function loadStripe(): Promise<MakeStripe> {
  loading ??= load().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

function load(): Promise<MakeStripe> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    const fail = (): void => {
      clearTimeout(timer);
      script.remove();
      reject(new Error(`${ADDRESS} did not load`));
    };
    const timer = setTimeout(fail, LOADED_WITHIN_MS);
    script.addEventListener('error', fail);
    script.addEventListener('load', () => {
      const { Stripe: make } = globalThis as { readonly Stripe?: MakeStripe };
      if (make === undefined) {
        fail();
        return;
      }
      clearTimeout(timer);
      resolve(make);
    });
    script.async = true;
    script.src = ADDRESS;
    document.head.append(script);
  });
}
