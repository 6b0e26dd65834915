/** What the forms send that commit money or a machine. */
export interface WishBodies {
  readonly topup: { readonly amountCents: number };
  /** `machine` is what people read: “1 × RTX 4090”. */
  readonly rent: { readonly quoteId: string; readonly machine: string };
}

export type WishForm = keyof WishBodies;

/** A wish that was sent and whose outcome nobody here has seen. */
export interface Wish<Form extends WishForm = WishForm> {
  readonly userId: string;
  /** Its Idempotency-Key. */
  readonly key: string;
  readonly body: WishBodies[Form];
  /** When it was sent last, by this browser's clock. */
  readonly atMs: number;
}

/** How long somebody is answered for a wish: later they have looked for themselves. */
export const WISH_KEPT_MS = 15 * 60_000;

/** The service opens nothing later than 20 s after it was asked; a request that it does not know by then never came. */
const NEVER_CAME_MS = 60_000;

/** Where a browser keeps something for one tab. */
export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export interface WishesOptions {
  /** May throw, as each of its calls may. */
  readonly storage: () => TabStorage;
  readonly now: () => number;
  /** Asks the browser's other tabs whether one of them has sent this. A tab that was duplicated has a copy of it. */
  readonly isAnothers: (key: string) => Promise<boolean>;
}

/**
 * The open wishes of a tab, one of each form. They outlive the page's components and the page itself, so that what was
 * sent is never sent anew by somebody who did not see what became of it. Where the browser stores nothing they last as
 * long as the page.
 */
export class Wishes {
  readonly #options: WishesOptions;
  readonly #sent = new Map<WishForm, Wish>();

  constructor(options: WishesOptions) {
    this.#options = options;
  }

  /** Keeps what is about to be sent. */
  keep<Form extends WishForm>(form: Form, wish: Wish<Form>): void {
    this.#sent.set(form, wish);
    this.#try((storage) => storage.setItem(nameOf(form), JSON.stringify(wish)));
  }

  /** Forgets the wish of a form: its outcome was seen. */
  forget(form: WishForm): void {
    this.#sent.delete(form);
    this.#try((storage) => storage.removeItem(nameOf(form)));
  }

  /** Forgets all: somebody signs out, or somebody else signs in. */
  clear(): void {
    for (const form of ['topup', 'rent'] as const) this.forget(form);
  }

  /** Tells other tabs whether this one has sent something. */
  has(key: string): boolean {
    return [...this.#sent.values()].some((wish) => wish.key === key);
  }

  /** The wish of a form, as far as it can be told at once: a duplicated tab may have it too. */
  peek<Form extends WishForm>(form: Form, userId: string): Wish<Form> | undefined {
    const wish = this.#sent.get(form) ?? this.#stored(form);
    if (wish?.userId === userId && this.#options.now() - wish.atMs < WISH_KEPT_MS) return wish as Wish<Form>;
    if (wish) this.forget(form);
    return undefined;
  }

  /** The wish of a form, where this is the tab that has sent it. */
  async own<Form extends WishForm>(form: Form, userId: string): Promise<Wish<Form> | undefined> {
    const wish = this.peek(form, userId);
    if (wish === undefined || this.has(wish.key)) return wish;
    const isAnothers = await this.#options.isAnothers(wish.key);
    // Meanwhile it may have been forgotten, or another one sent.
    if (this.peek(form, userId)?.key !== wish.key) return this.own(form, userId);
    if (isAnothers) this.forget(form);
    else this.#sent.set(form, wish);
    return isAnothers ? undefined : wish;
  }

  #stored(form: WishForm): Wish | undefined {
    const text = this.#try((storage) => storage.getItem(nameOf(form)));
    return typeof text === 'string' ? readWish(text) : undefined;
  }

  #try<Result>(access: (storage: TabStorage) => Result): Result | undefined {
    try {
      return access(this.#options.storage());
    } catch {
      // A browser that stores nothing, or no more.
      return undefined;
    }
  }
}

const nameOf = (form: WishForm): string => `wish:${form}`;

function readWish(text: string): Wish | undefined {
  try {
    const wish = JSON.parse(text) as Wish | null;
    return typeof wish?.key === 'string' && typeof wish.atMs === 'number' && typeof wish.body === 'object'
      ? wish
      : undefined;
  } catch {
    return undefined;
  }
}

/** Tells of a wish that the service knows nothing of whether it may yet come there. */
export const mayYetCome = ({ atMs }: Wish, nowMs: number): boolean => nowMs - atMs < NEVER_CAME_MS;

/** Something of the same kind was done a moment ago: doing it twice on purpose takes one press more. */
export class DoneBefore extends Error {
  override readonly name = 'DoneBefore';

  /** @param atMs when it was done */
  constructor(readonly atMs: number) {
    super();
  }
}

/** Refuses what was done within the last minutes already. @throws DoneBefore */
export function refuseTwice(doneAt: readonly string[], nowMs: number): void {
  const latestMs = Math.max(...doneAt.map((instant) => Date.parse(instant)));
  if (nowMs - latestMs < WISH_KEPT_MS) throw new DoneBefore(Math.min(latestMs, nowMs));
}
