import type {
  AddPasskey,
  Passkey,
  PasskeyCreation,
  PasskeyProof,
  PasskeyRequest,
  ShowPasskey,
  SignedIn,
} from '../schema.js';
import type { CallOptions } from '../transport.js';
import { Noun } from './noun.js';

/**
 * Passkeys. What `begin…` answers goes through `PublicKeyCredential.parse…FromJSON` to the browser, and what that makes
 * of it comes back by `toJSON()`, within 5 minutes.
 */
export class Passkeys extends Noun {
  async list(options?: CallOptions): Promise<Passkey[]> {
    const { passkeys } = await this.call('read', options, (api, init) => api.GET('/v1/auth/passkeys', init));
    return passkeys;
  }

  /** Takes a fresh sign-in, as `add` does. */
  begin(options?: CallOptions): Promise<PasskeyCreation> {
    return this.call('same', options, (api, init) => api.POST('/v1/auth/passkeys/begin', init));
  }

  add(body: AddPasskey, options?: CallOptions): Promise<Passkey> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/passkeys', { ...init, body }));
  }

  rename(id: string, name: string, options?: CallOptions): Promise<Passkey> {
    return this.call('same', options, (api, init) =>
      api.PATCH('/v1/auth/passkeys/{id}', { ...init, body: { name }, params: { path: { id } } }),
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove(options, (api, init) =>
      api.DELETE('/v1/auth/passkeys/{id}', { ...init, params: { path: { id } } }),
    );
  }

  beginSignIn(options?: CallOptions): Promise<PasskeyRequest> {
    return this.call('same', options, (api, init) => api.POST('/v1/auth/passkey-sign-in/begin', init));
  }

  signIn(body: ShowPasskey, options?: CallOptions): Promise<SignedIn> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/passkey-sign-in', { ...init, body }));
  }

  beginProof(options?: CallOptions): Promise<PasskeyRequest> {
    return this.call('same', options, (api, init) => api.POST('/v1/auth/passkey-proof/begin', init));
  }

  /** The sign-in is fresh, and the session has another cookie, which this client goes on with. */
  prove(body: ShowPasskey, options?: CallOptions): Promise<PasskeyProof> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/passkey-proof', { ...init, body }));
  }
}
