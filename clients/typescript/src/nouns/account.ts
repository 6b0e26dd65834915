import { byCursor, type Paged } from '../pages.js';
import type {
  AccountClosing,
  AddSshKey,
  AddedSshKey,
  AuditEvent,
  AuditEventPage,
  CloseAccount,
  Done,
  EndOtherSessionsAnswer,
  NoticeSettings,
  OpenSession,
  OpenSessionPage,
  RefreshProof,
  RefreshedProof,
  RequestCode,
  SaveNotices,
  Session,
  SignInProvider,
  SignedIn,
  SshKey,
  VerifyCode,
} from '../schema.js';
import type { CallOptions, Transport } from '../transport.js';
import { Noun } from './noun.js';
import { Passkeys } from './passkeys.js';
import type { QueryOf } from './query.js';

/** Signing in and out. A browser keeps the session by itself; in Node it is `GpuRental.session`. */
export class Auth extends Noun {
  /** Where the user is signed in. */
  readonly sessions: Sessions;
  readonly passkeys: Passkeys;

  constructor(transport: Transport) {
    super(transport);
    this.sessions = new Sessions(transport);
    this.passkeys = new Passkeys(transport);
  }

  /** Has a code mailed. The answer does not tell whether there is such an account. */
  requestCode(body: RequestCode, options?: CallOptions): Promise<Done> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/request-code', { ...init, body }));
  }

  /** Signs in with the mailed code. */
  verifyCode(body: VerifyCode, options?: CallOptions): Promise<SignedIn> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/verify-code', { ...init, body }));
  }

  /** Who is signed in. */
  me(options?: CallOptions): Promise<Session> {
    return this.call('read', options, (api, init) => api.GET('/v1/auth/me', init));
  }

  /** Ends this session. */
  async logout(options?: CallOptions): Promise<void> {
    await this.end(401, options, (api, init) => api.POST('/v1/auth/logout', init));
  }

  /**
   * Shows anew who the user is, for what asks for a fresh sign-in: without a code one is mailed, with it the sign-in is
   * fresh and the session has another cookie, which this client goes on with.
   */
  refreshProof(body: RefreshProof = {}, options?: CallOptions): Promise<RefreshedProof> {
    return this.call('once', options, (api, init) => api.POST('/v1/auth/refresh-proof', { ...init, body }));
  }

  /** Other ways to sign in that are set up. */
  async providers(options?: CallOptions): Promise<SignInProvider[]> {
    const { providers } = await this.call('read', options, (api, init) =>
      api.GET('/v1/auth/providers', init),
    );
    return providers;
  }
}

/** Where the user is signed in. */
export class Sessions extends Noun {
  /** The newest sign-in first. */
  list(query: QueryOf<'/v1/auth/sessions'> = {}, options?: CallOptions): Paged<OpenSession, OpenSessionPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/auth/sessions', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ sessions }) => sessions,
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove(options, (api, init) =>
      api.DELETE('/v1/auth/sessions/{id}', { ...init, params: { path: { id } } }),
    );
  }

  /** Ends all but this one. */
  endOthers(options?: CallOptions): Promise<EndOtherSessionsAnswer> {
    return this.call('same', options, (api, init) => api.POST('/v1/auth/sessions/end-others', init));
  }
}

/** Stored SSH keys, which new machines let in. */
export class SshKeys extends Noun {
  async list(options?: CallOptions): Promise<SshKey[]> {
    const { sshKeys } = await this.call('read', options, (api, init) => api.GET('/v1/ssh-keys', init));
    return sshKeys;
  }

  /** Stores a public key, or makes a pair, whose private key is in this answer alone. */
  add(body: AddSshKey, options?: CallOptions): Promise<AddedSshKey> {
    return this.call('once', options, (api, init) => api.POST('/v1/ssh-keys', { ...init, body }));
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove(options, (api, init) =>
      api.DELETE('/v1/ssh-keys/{id}', { ...init, params: { path: { id } } }),
    );
  }
}

/** Which mails are sent. */
export class Notices extends Noun {
  get(options?: CallOptions): Promise<NoticeSettings> {
    return this.call('read', options, (api, init) => api.GET('/v1/notices', init));
  }

  save(body: SaveNotices, options?: CallOptions): Promise<NoticeSettings> {
    return this.call('same', options, (api, init) => api.PUT('/v1/notices', { ...init, body }));
  }
}

/** What was done to the account, newest first. */
export class Audit extends Noun {
  list(query: QueryOf<'/v1/audit'> = {}, options?: CallOptions): Paged<AuditEvent, AuditEventPage> {
    return byCursor(
      (cursor) =>
        this.call('read', options, (api, init) =>
          api.GET('/v1/audit', { ...init, params: { query: { ...query, ...cursor } } }),
        ),
      ({ events }) => events,
    );
  }
}

/** The account itself. */
export class Account extends Noun {
  /** What closing it does, or how far it is. */
  closing(options?: CallOptions): Promise<AccountClosing> {
    return this.call('read', options, (api, init) => api.GET('/v1/account/closing', init));
  }

  /** Closes it for good: a repetition changes nothing. */
  close(body: CloseAccount, options?: CallOptions): Promise<AccountClosing> {
    return this.call('same', options, (api, init) => api.POST('/v1/account/close', { ...init, body }));
  }

  /**
   * Everything that the service holds of it, as a ZIP archive that comes as fast as it is read. The options' time and signal
   * end the wait for its beginning; cancel the stream to end it later. One that ends too early throws.
   * None is begun a second time by itself: each is mailed, and counts.
   */
  async export(options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.pieces('once', options, (api, init) =>
      api.GET('/v1/account/export', { ...init, parseAs: 'stream' }),
    );
  }
}
