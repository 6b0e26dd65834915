import { GpuRental, mayBeDone } from '@gpu-rental/client';
import facts from '../package.json' with { type: 'json' };
import { Asking } from './asking/asking.js';
import { checkAnswer } from './checked-answers.js';
import { defaultUrl, placeOf, readUrl, Store } from './config/store.js';
import { explainFailure } from './explain-failure.js';
import { Failure, usageFailure } from './failure.js';
import { tellingWhenLate } from './http/late.js';
import { fetchOf } from './http/proxy.js';
import { ServiceClock } from './http/service-clock.js';
import { Out } from './output/out.js';
import { duration } from './output/time.js';
import type { Standing } from './standing.js';
import type { Surroundings } from './surroundings.js';

/** The options that each command takes. */
export interface GlobalOptions {
  readonly url?: string;
  readonly profile?: string;
  readonly json?: boolean;
  /** An expression of jq, which chooses what of the JSON is printed. */
  readonly jq?: string;
  readonly yes?: boolean;
  readonly timeout?: number;
  /** false: --no-color. */
  readonly color?: boolean;
}

export const { version } = facts;

const usualGapMs = 300_000;
const usualLateMs = 3_000;

/** What a command works with: its surroundings, its outputs, what is remembered, and the client of the service. */
export class Cli {
  readonly surroundings: Surroundings;
  readonly out: Out;
  readonly asking: Asking;
  readonly store: Store;
  readonly #clock: ServiceClock;
  /** The name of the sign-in that is used; undefined: the one without a name. */
  readonly profile: string | undefined;
  /** What exists by now because of this command, or may exist; undefined: nothing. */
  standing: Standing | undefined;
  #waitedFor: string | undefined;
  #isLateTold = false;
  #url: string | undefined;

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
    this.out = new Out(this.surroundings, options.json ?? options.jq !== undefined);
    this.asking = new Asking(this.surroundings, options.yes ?? false);
    this.store = new Store(surroundings);
    this.#clock = new ServiceClock(() => surroundings.now());
    this.profile = readProfile(options.profile ?? filled(env['GPU_PROFILE']));
    const given = options.url ?? filled(env['GPU_API_URL']);
    if (given !== undefined) this.#url = readUrl(given);
  }

  /** The address of the service, without a slash at its end. What is remembered is read at the first need. */
  get url(): string {
    this.#url ??= readUrl(this.store.currentUrl(this.profile) ?? defaultUrl);
    return this.#url;
  }

  /** The same, unless nothing needed it so far. */
  get askedUrl(): string | undefined {
    return this.#url;
  }

  /** Where the sign-in that is used is kept. */
  get place(): string {
    return placeOf(this.url, this.profile);
  }

  /** The service's time in milliseconds: what its instants are compared with, and counted from. */
  now(): number {
    return this.#clock.now();
  }

  get signal(): AbortSignal {
    return this.surroundings.signal;
  }

  /** How long the service may take for an answer; undefined: as long as it usually may. */
  get timeoutSeconds(): number | undefined {
    return this.options.timeout;
  }

  /** For how long the service may be away while something is waited for, in milliseconds. */
  get gapMs(): number {
    const { gapMs = usualGapMs } = this.surroundings;
    return Math.min(gapMs, this.#timeoutMs ?? Infinity);
  }

  get #timeoutMs(): number | undefined {
    return this.options.timeout === undefined ? undefined : this.options.timeout * 1_000;
  }

  /** The key of the environment. It may belong to another account than the sign-in; who names a profile means that. */
  get givenKey(): string | undefined {
    return this.options.profile === undefined ? filled(this.surroundings.env['GPU_API_KEY']) : undefined;
  }

  /** The key by which requests are made: of the environment first, then of the sign-in. */
  get apiKey(): string | undefined {
    const { givenKey } = this;
    if (givenKey !== undefined) return readKey(givenKey, 'GPU_API_KEY');
    const { apiKey } = this.store.credentials(this.place);
    return apiKey === undefined ? undefined : readKey(apiKey, this.store.paths.credentials);
  }

  /**
   * Sends what commits money or a machine. From here on every way out of the command names what exists: also when the
   * answer is lost, or somebody does not wait for it.
   * @param open what may exist until there is an answer
   * @param made what exists by the answer; undefined: nothing that must be named
   */
  async commit<T>(
    send: () => Promise<T>,
    open: Standing,
    made: (answer: T) => Standing | undefined,
  ): Promise<T> {
    const before = this.standing;
    this.standing = open;
    try {
      const answer = await send();
      this.standing = made(answer);
      return answer;
    } catch (error) {
      if (!mayBeDone(error)) this.standing = before;
      throw error;
    }
  }

  /** Changes files here after the service did its part, which stands: what fails is for its user to mend. */
  orRemark<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      const { message, next = '' } = explainFailure(error, this, false);
      this.out.remark(`${message} ${next}`.trim());
      return undefined;
    }
  }

  /** Says that something is tried again. Who waits wants to know for what, and to hear it once. */
  tellGap(error: unknown, when = ''): void {
    const { message } = explainFailure(error, this, false);
    if (message === this.#waitedFor) return;
    this.#waitedFor = message;
    this.out.note(`${message} Trying again${when}.`);
  }

  /** Says once, to somebody who looks, that an answer is late: without a word the command seems to be stuck. */
  #tellLate(lateMs: number): void {
    if (this.#isLateTold || this.surroundings.stderr.isTTY !== true) return;
    this.#isLateTold = true;
    const { host } = new URL(this.url);
    this.out.note(`${host} has not answered for ${duration(Math.ceil(lateMs / 1_000))}. Still waiting.`);
  }

  /** A client of whoever is signed in. @throws Failure when nobody is */
  client(): GpuRental {
    const { apiKey } = this;
    if (apiKey === undefined) {
      const by = this.profile === undefined ? '' : ` by the profile ${this.profile}`;
      const how = this.profile === undefined ? 'gpu login' : `gpu login --profile ${this.profile}`;
      const known = this.store.signIns().flatMap(({ url, name }) => (url === this.url && name ? [name] : []));
      const others = known.length === 0 ? '' : `. Profiles there: ${known.join(', ')}`;
      throw new Failure(
        'signedOut',
        `You are not signed in at ${this.url}${by}.`,
        `Sign in with: ${how}${others}`,
      );
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
    const { lateMs = usualLateMs } = this.surroundings;
    return new GpuRental({
      ...by,
      baseUrl: this.url,
      userAgent: `gpu/${version} node/${process.versions.node}`,
      fetch: tellingWhenLate(this.#clock.readOff(fetchOf(this.surroundings)), lateMs, () =>
        this.#tellLate(lateMs),
      ),
      answerWithinMs: this.#timeoutMs,
      callWithinMs: this.#timeoutMs,
      retries: this.surroundings.retries,
      onAnswer: (answer) => checkAnswer(answer, (why) => this.out.remark(`Left out a row: ${why}`)),
      onRetry: ({ delayMs, error }) => this.tellGap(error, ` in ${duration(Math.ceil(delayMs / 1_000))}`),
    });
  }
}

/** An empty variable says nothing. */
function filled(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** @throws Failure that names where a text stands that is no key: no header could carry it */
function readKey(text: string, where: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw usageFailure(
    `${where} holds no API key.`,
    'A key starts with gpur_ and has 41 characters. Put one there, or remove it and sign in with: gpu login',
  );
}

function readProfile(name: string | undefined): string | undefined {
  if (name === undefined || /^[\w.@+-]{1,100}$/.test(name)) return name;
  throw usageFailure(`"${name}" is not a valid profile name.`, 'Use letters, digits, and . @ + - _');
}
