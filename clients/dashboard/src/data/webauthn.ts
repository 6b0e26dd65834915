import type { PasskeyCreation, PasskeyRequest } from '@gpu-rental/client';
import { passkeyTexts } from '../texts/passkeys.js';
import { PlainError } from './errors.js';

/** What a browser answers, as the service takes it. */
interface Answer {
  readonly id: string;
  readonly rawId: string;
  readonly type: 'public-key';
}
export interface MadePasskey extends Answer {
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}
export interface ShownPasskey extends Answer {
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
  };
}

/**
 * Whether passkeys can be made and shown here: by a browser that reads the service's JSON, and on a page with a name,
 * since none is made for an address of digits.
 */
export function knowsPasskeys(): boolean {
  const isNamed = !/^[\d.]+$|:/.test(location.hostname);
  const readsJson =
    'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
  return isSecureContext && isNamed && readsJson;
}

/**
 * Has a passkey made by the device.
 * @throws PlainError
 */
export async function makePasskey(asked: PasskeyCreation): Promise<MadePasskey> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(asked);
  return answerOf(await inWords(navigator.credentials.create({ publicKey }))) as MadePasskey;
}

/**
 * Has a passkey shown by the device.
 * @throws PlainError
 */
export async function showPasskey(asked: PasskeyRequest): Promise<ShownPasskey> {
  return answerOf(await inWords(navigator.credentials.get({ publicKey: requestOf(asked) }))) as ShownPasskey;
}

/** A challenge is good for five minutes: those of the suggestions are renewed before. */
const SUGGESTED_MS = 4 * 60_000;

/**
 * Lets the browser suggest passkeys where it suggests addresses, until somebody chooses one.
 * @param begin asks the service for a challenge, again and again
 * @returns undefined where the browser can't, or the service does not answer
 */
export async function suggestPasskeys(
  begin: () => Promise<PasskeyRequest>,
  signal: AbortSignal,
): Promise<ShownPasskey | undefined> {
  if (!knowsPasskeys()) return undefined;
  if (!(await PublicKeyCredential.isConditionalMediationAvailable())) return undefined;
  while (!signal.aborted) {
    await untilShown(signal);
    try {
      const publicKey = requestOf(await begin());
      const renewed = AbortSignal.any([signal, AbortSignal.timeout(SUGGESTED_MS)]);
      const wanted = { mediation: 'conditional', publicKey, signal: renewed } as const;
      return answerOf(await navigator.credentials.get(wanted)) as ShownPasskey;
    } catch (error) {
      if (nameOf(error) !== 'TimeoutError') return undefined;
    }
  }
  return undefined;
}

/** A page that nobody sees asks for nothing: its address may begin so many sign-ins only. */
function untilShown(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (!document.hidden || signal.aborted) {
      done();
      return;
    }
    for (const [target, event] of [
      [document, 'visibilitychange'],
      [signal, 'abort'],
    ] as const)
      target.addEventListener(event, () => done(), { once: true });
  });
}

function requestOf(asked: PasskeyRequest): PublicKeyCredentialRequestOptions {
  return PublicKeyCredential.parseRequestOptionsFromJSON(asked);
}

function answerOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw plain('failed');
  return credential.toJSON();
}

/** Browsers say the same of who has cancelled, who took too long, and a device that has no passkey. */
const words: Readonly<Record<string, keyof typeof passkeyTexts.faults>> = {
  NotAllowedError: 'cancelled',
  AbortError: 'cancelled',
  InvalidStateError: 'known',
  NotSupportedError: 'unsupported',
  ConstraintError: 'unsupported',
  SecurityError: 'unsupported',
};

async function inWords<T>(asking: Promise<T>): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    throw plain(words[nameOf(error)] ?? 'failed');
  }
}

function plain(fault: keyof typeof passkeyTexts.faults): PlainError {
  const { text, step } = passkeyTexts.faults[fault];
  return new PlainError(text, step);
}

function nameOf(error: unknown): string {
  return error instanceof DOMException ? error.name : '';
}
