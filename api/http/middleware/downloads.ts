import type { ServerResponse } from 'node:http';
import type { Middleware } from 'koa';
import { requestLimits } from '../../../domain/requests/limits.js';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState, Caller } from '../../context.js';
import { clientOf } from './client-address.js';

type Context = Parameters<Middleware<ApiState, object>>[0];

/** A file that is being sent, as fast as its reader takes it. */
interface Download {
  /** A user; without one, an address. */
  readonly owner: string;
  /** undefined for a session. */
  readonly keyId: string | undefined;
  readonly response: ServerResponse;
}

const { downloadsOfKeys, downloadsOfUser, downloadsOfProcess } = requestLimits;

/**
 * Bounds the files that one process sends at once (decision 129, "Unread answers"). They take no turns of their caller,
 * because how long one takes is its reader's choice. A reader over their bound ends their oldest one, so that nobody who
 * reads slowly, or has a key that was lost, keeps anybody from beginning.
 */
export class Downloads {
  /** In the order in which they began. */
  readonly #all = new Set<Download>();

  /**
   * Takes a file in whose answer is about to be sent.
   * @throws Refusal rate_limited, where the user's other files leave no place for a key's
   * @throws Refusal temporarily_unavailable, where this process sends too many
   */
  begin(ctx: Context, caller: Caller | undefined): void {
    if (ctx.res.closed || ctx.res.destroyed) return;
    const download: Download = {
      owner: caller?.userId ?? clientOf(ctx.ip),
      keyId: caller?.kind === 'session' ? undefined : (caller?.keyId ?? ''),
      response: ctx.res,
    };
    try {
      this.#makeRoom(download);
    } catch (error) {
      ctx.remove('Content-Disposition');
      throw error;
    }
    this.#all.add(download);
    ctx.res.once('close', () => this.#all.delete(download));
  }

  #makeRoom({ owner, keyId }: Download): void {
    const isKey = keyId !== undefined;
    const ofOwner = this.#ofOwner(owner);
    const ofKind = ofOwner.filter((other) => (other.keyId !== undefined) === isKey);
    if (isKey && ofKind.length >= downloadsOfKeys) {
      this.#end(ofKind.find((other) => other.keyId === keyId) ?? ofKind[0]);
    } else if (ofOwner.length >= downloadsOfUser) {
      if (isKey) throw tooManyOfUser();
      this.#end(ofKind[0]);
    }
    if (this.#all.size >= downloadsOfProcess) this.#end(this.#oldestOfMost(owner));
  }

  /** The oldest file of whoever has most, if that leaves them no less than the one who asks. */
  #oldestOfMost(asking: string): Download {
    const counts = new Map<string, number>();
    for (const { owner } of this.#all) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    const [most = '', count = 0] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [];
    const [oldest] = this.#ofOwner(most);
    if (oldest === undefined || count <= (counts.get(asking) ?? 0) + 1) throw tooManyOfProcess();
    return oldest;
  }

  #ofOwner(owner: string): Download[] {
    return [...this.#all].filter((download) => download.owner === owner);
  }

  #end(download: Download | undefined): void {
    if (download === undefined) return;
    this.#all.delete(download);
    download.response.destroy();
  }
}

function tooManyOfUser(): Refusal {
  return new Refusal(
    'rate_limited',
    `${downloadsOfUser} files of your account are already downloading. Try again when one of them is done.`,
    { reason: 'too_many_at_once', retryAfterSeconds: 10 },
  );
}

function tooManyOfProcess(): Refusal {
  return new Refusal(
    'temporarily_unavailable',
    'Too many files are downloading right now. Try again in a minute.',
  );
}
