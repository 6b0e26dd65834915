import { createHash } from 'node:crypto';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { mailboxOf } from '../../../domain/accounts/mailbox.js';
import { DAY, HOUR } from '../../../domain/durations.js';
import { isReachedSql } from '../clock.js';
import type { Transaction } from '../database.js';
import { lockBy } from '../locks.js';
import type { LoginCodeRow } from '../rows/tables.js';
import { newCode, readExpiry, spansSql, tryCode, waitMs } from './one-time-codes.js';

/** An account at an identity provider (OpenID Connect Core 5.7). */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** A request for a code: who asks, and for which address. */
export interface CodeWish {
  /** In lower case. */
  readonly email: string;
  /** Names one client (api/http/middleware/client-address.ts). */
  readonly clientAddress: string;
  /** Hash of the cookie of the asking browser. */
  readonly browserHash: Buffer;
  readonly askedBy: LoginCodeRow['asked_by'];
  /** Linked once the code is typed in this browser; set only where an identity provider asks. */
  readonly identity?: Identity;
}

/**
 * `limited` depends on the asker's own requests alone. `spared` means that the mailbox has had its share; nobody is
 * told.
 */
export type CodeRequest =
  | { readonly outcome: 'made'; readonly id: number; readonly code: string }
  | { readonly outcome: 'spared' }
  | { readonly outcome: 'limited'; readonly retryAfterMs: number };

/**
 * Makes a one-time code, unless the asker asked too often or the mailbox has had its share (decision 8, "One-time
 * codes", and decision 84, "Shares of codes"). The locks are held until the transaction ends, so that simultaneous
 * requests are counted one after the other. A spared request leaves a row as well: its answer, count and work equal
 * those of a mailed one.
 * @param clientPerHour requests that one client address may make in an hour, for all e-mail addresses together
 */
export async function requestLoginCode(
  trx: Transaction,
  wish: CodeWish,
  clientPerHour: number,
): Promise<CodeRequest> {
  const mailbox = mailboxOf(wish.email);
  // Everybody takes them in this order, so nobody waits in a circle.
  await lockBy(trx, 'loginCodesOfMailbox', mailbox);
  await lockBy(trx, 'loginCodesOfClient', wish.clientAddress);
  // Nobody waits for an answer to a provider's request: only the share of the mailbox limits it.
  const retryAfterMs = wish.askedBy === 'identity' ? 0 : await ownWaitMs(trx, wish, mailbox, clientPerHour);
  if (retryAfterMs > 0) return { outcome: 'limited', retryAfterMs };
  const code = (await hasShareLeft(trx, wish, mailbox)) ? newCode() : undefined;
  const id = await insertCode(trx, wish, mailbox, code);
  return code === undefined ? { outcome: 'spared' } : { outcome: 'made', id, code };
}

async function insertCode(
  trx: Transaction,
  wish: CodeWish,
  mailbox: string,
  code: string | undefined,
): Promise<number> {
  const expiresAt = await readExpiry(trx);
  const [row] = await trx('login_codes')
    .insert({
      email: wish.email,
      mailbox,
      code_hash: code === undefined ? null : hashOf(wish.email, expiresAt, code),
      client_address: wish.clientAddress,
      browser_hash: wish.browserHash,
      asked_by: wish.askedBy,
      expires_at: expiresAt,
      ...wish.identity,
    })
    .returning('id');
  if (!row) throw new Error('the code was not kept');
  return row.id;
}

/**
 * Returns how long the asker must wait because of its own requests: those of this browser or, as long as the browser is
 * not known for the address, those of this client address. A known browser does not wait for its neighbours.
 */
async function ownWaitMs(
  trx: Transaction,
  wish: CodeWish,
  mailbox: string,
  clientPerHour: number,
): Promise<number> {
  const isKnown = wish.askedBy === 'known_browser';
  const own = isKnown ? 'browser_hash = :browser' : '(browser_hash = :browser or client_address = :client)';
  const ofClient = `('client', cast(:clientPerHour as bigint), cast(${HOUR} as bigint))`;
  return waitMs(
    trx,
    `select 'mailbox' as what, created_at from login_codes
      where mailbox = :mailbox and asked_by <> 'identity' and ${own} and created_at > :since
     union all
     select 'client', created_at from login_codes
      where client_address = :client and created_at > :since`,
    isKnown ? everySpan : `${everySpan}, ${ofClient}`,
    { mailbox, browser: wish.browserHash, client: wish.clientAddress, clientPerHour },
  );
}

async function hasShareLeft(trx: Transaction, { askedBy }: CodeWish, mailbox: string): Promise<boolean> {
  const wait = await waitMs(
    trx,
    `select 'mailbox' as what, created_at from login_codes
      where mailbox = :mailbox and asked_by = :askedBy and code_hash is not null and created_at > :since`,
    everySpan,
    { mailbox, askedBy },
  );
  return wait === 0;
}

/** The limits of codes per span of time (decision 8, "One-time codes"), as rows of SQL. */
const everySpan = spansSql([
  ['mailbox', 1, accountLimits.codeRequestEveryMs],
  ['mailbox', accountLimits.codeRequestsPerHour, HOUR],
  ['mailbox', accountLimits.codeRequestsPerDay, DAY],
]);

export type CodeVerdict =
  | { readonly right: true; readonly identity: Identity | undefined }
  | { readonly right: false };

/**
 * Tries a code (decision 8, "One-time codes", and decision 84, "Shares of codes"). It compares with the code that this
 * browser asked for, which has five tries of its own. Without one, it compares with the newest code of the address,
 * whose five tries all other browsers share. A code works once. This transaction writes the try, so the caller must
 * commit it whatever the verdict.
 * @param email in lower case
 * @param browserHash of the browser that asks; undefined where it has no cookie
 * @returns the verdict; for a right code, also the account elsewhere that this browser waits to have linked
 */
export async function tryLoginCode(
  trx: Transaction,
  email: string,
  code: string,
  browserHash: Buffer | undefined,
): Promise<CodeVerdict> {
  // Everybody locks the older one first.
  const own = browserHash && (await lockNewest(trx, email, browserHash));
  const newest = await lockNewest(trx, email);
  const others = newest && newest.id !== own?.id ? newest : undefined;
  const isRight =
    (own !== undefined && (await tryOne(trx, own, 'tries', code))) ||
    (others !== undefined && (await tryOne(trx, others, 'other_tries', code)));
  if (!isRight) return { right: false };
  return { right: true, identity: browserHash && (await findWaitingIdentity(trx, email, browserHash)) };
}

type LockedCode = Pick<LoginCodeRow, 'id' | 'email' | 'tries' | 'other_tries' | 'expires_at'> & {
  readonly code_hash: Buffer;
  readonly alive: boolean;
};

async function lockNewest(
  trx: Transaction,
  email: string,
  browserHash?: Buffer,
): Promise<LockedCode | undefined> {
  const { rows } = await trx.raw<{ rows: LockedCode[] }>(
    `select id, email, code_hash, tries, other_tries, expires_at, used_at is null and expires_at > clock_ms() as alive
       from login_codes
      where email = :email and code_hash is not null and ${isReachedSql('created_at')}
            ${browserHash ? 'and browser_hash = :browserHash' : ''}
      order by created_at desc, id desc limit 1 for update`,
    { email, ...(browserHash && { browserHash }) },
  );
  return rows[0];
}

async function tryOne(
  trx: Transaction,
  row: LockedCode,
  counter: 'tries' | 'other_tries',
  code: string,
): Promise<boolean> {
  const hash = hashOf(row.email, row.expires_at, code);
  return tryCode(trx, 'login_codes', row, { counter, tries: row[counter], hash });
}

/**
 * The account to link: whoever types a right code in the browser that came back from a provider owns both mailbox and
 * account.
 */
async function findWaitingIdentity(
  trx: Transaction,
  email: string,
  browserHash: Buffer,
): Promise<Identity | undefined> {
  const row = await trx('login_codes')
    .where({ email, browser_hash: browserHash })
    .whereNotNull('issuer')
    .whereRaw('expires_at > clock_ms()')
    .orderBy('id', 'desc')
    .first('issuer', 'subject');
  return row?.issuer && row.subject ? { issuer: row.issuer, subject: row.subject } : undefined;
}

/** The address and the instant make the hash of each row unique: equal codes don't show as equal hashes. */
function hashOf(email: string, expiresAt: Date, code: string): Buffer {
  return createHash('sha256').update(`login-code:${email}:${expiresAt.getTime()}:${code}`).digest();
}
