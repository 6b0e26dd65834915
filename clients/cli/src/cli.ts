import { GpuRental } from '@gpu-rental/client';
import { Asking } from './asking/asking.js';
import { defaultUrl, readUrl, Store } from './config/store.js';
import { explainFailure } from './explain-failure.js';
import { Failure } from './failure.js';
import { fetchOf } from './http/proxy.js';
import { Out } from './output/out.js';
import { duration } from './output/time.js';
import type { Surroundings } from './surroundings.js';

/** The options that each command takes. */
export interface GlobalOptions {
  readonly url?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  /** false: --no-color. */
  readonly color?: boolean;
}

export const version = '0.2.0';

/** What a command works with: its surroundings, its outputs, what is remembered, and the client of the service. */
export class Cli {
  readonly surroundings: Surroundings;
  readonly out: Out;
  readonly asking: Asking;
  readonly store: Store;
  /** The address of the service, without a slash at its end. */
  readonly url: string;
  #waitedFor: string | undefined;

  constructor(
    surroundings: Surroundings,
    readonly options: GlobalOptions = {},
    /** The words after --, where the command line has one. */
    readonly dashedArgs?: readonly string[],
  ) {
    this.surroundings =
      options.color === false
        ? { ...surroundings, env: { ...surroundings.env, NO_COLOR: '1' } }
        : surroundings;
    const { env } = this.surroundings;
    this.out = new Out(this.surroundings, options.json ?? false);
    this.asking = new Asking(this.surroundings, options.yes ?? false);
    this.store = new Store(surroundings);
    this.url = readUrl(options.url ?? filled(env['GPU_API_URL']) ?? this.store.currentUrl() ?? defaultUrl);
  }

  get signal(): AbortSignal {
    return this.surroundings.signal;
  }

  /** The key of the environment. It may belong to another account than the sign-in. */
  get givenKey(): string | undefined {
    return filled(this.surroundings.env['GPU_API_KEY']);
  }

  /** The key by which requests are made: of the environment first, then of the sign-in. */
  get apiKey(): string | undefined {
    return this.givenKey ?? this.store.credentials(this.url).apiKey;
  }

  /** A client of whoever is signed in. @throws Failure when nobody is */
  client(): GpuRental {
    const { apiKey } = this;
    if (apiKey === undefined) {
      throw new Failure('signedOut', `You are not signed in at ${this.url}.`, 'Sign in with: gpu login');
    }
    return this.open({ apiKey });
  }

  /** A client for what strangers may see as well. */
  anyone(): GpuRental {
    const { apiKey } = this;
    return this.open(apiKey === undefined ? {} : { apiKey });
  }

  /** A client by a key or a session, or of a stranger. */
  open(by: { apiKey?: string; session?: { cookie: string } } = {}): GpuRental {
    return new GpuRental({
      ...by,
      baseUrl: this.url,
      userAgent: `gpu/${version} node/${process.versions.node}`,
      fetch: fetchOf(this.surroundings),
      retries: this.surroundings.retries,
      onRetry: ({ delayMs, error }) => {
        const { message } = explainFailure(error, this.url, false);
        // Who waits wants to know for what, and to hear it once.
        if (message === this.#waitedFor) return;
        this.#waitedFor = message;
        this.out.note(`${message} Trying again in ${duration(Math.ceil(delayMs / 1_000))}.`);
      },
    });
  }
}

/** An empty variable says nothing. */
function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
