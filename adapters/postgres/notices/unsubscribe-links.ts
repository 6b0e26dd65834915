import { createHmac, timingSafeEqual } from 'node:crypto';
import { isClosedAddress } from '../../../domain/accounts/closing.js';
import { isId, type UserId } from '../../../domain/ids.js';
import { isNoticeKind, isOptional, type OptionalKind } from '../../../domain/notices/kinds.js';
import { noticeLimits } from '../../../domain/notices/limits.js';
import { readClock } from '../clock.js';
import type { Database } from '../database.js';
import { getInstallationKey } from '../wallets/installation-keys.js';

/** Where a link that switches mails off leads: GET shows a page, POST does it (RFC 8058). */
export const unsubscribePath = '/v1/notices/unsubscribe';

/** What a link may do, for whoever holds it: switch one kind of mails to one user off. */
export interface UnsubscribeGrant {
  readonly userId: UserId;
  readonly kind: OptionalKind;
}

/**
 * Makes a link that switches a kind of mails off without signing in (decision 103, "Notices by mail"). A key of this
 * installation signs it.
 * @param publicUrl where browsers reach the API, without a slash at the end
 * @param nowMs the database's clock
 */
export async function makeUnsubscribeUrl(
  db: Database,
  publicUrl: string,
  { userId, kind }: UnsubscribeGrant,
  nowMs: number,
): Promise<string> {
  const expires = Math.floor((nowMs + noticeLimits.linkMs) / 1000);
  const said = `${userId}.${kind}.${expires}`;
  return `${publicUrl}${unsubscribePath}?token=${said}.${await signatureOf(db, said)}`;
}

const FORM = /^((usr_\w{26})\.([a-z_]{1,40})\.(\d{1,12}))\.([A-Za-z0-9_-]{43})$/;

/**
 * Reads the token of such a link. The database is asked about none that we did not sign.
 * @returns undefined for one that we did not sign; `expired` for one that has served its time, or whose user is gone
 */
export async function readUnsubscribeToken(
  db: Database,
  token: string,
): Promise<UnsubscribeGrant | 'expired' | undefined> {
  const read = partsOf(token);
  if (read === undefined) return undefined;
  const { said, mac, grant, expiresMs } = read;
  if (!timingSafeEqual(Buffer.from(await signatureOf(db, said)), Buffer.from(mac))) return undefined;
  if (expiresMs <= (await readClock(db)).getTime()) return 'expired';
  // Nothing may be written of whom nobody erases any more.
  const user = await db('users').where({ id: grant.userId }).first('email');
  return user === undefined || isClosedAddress(user.email) ? 'expired' : grant;
}

interface Parts {
  readonly said: string;
  readonly mac: string;
  readonly grant: UnsubscribeGrant;
  readonly expiresMs: number;
}

/** Reads what a token says, before its signature is looked at. */
function partsOf(token: string): Parts | undefined {
  const match = FORM.exec(token);
  if (match === null) return undefined;
  const [, said = '', userId = '', kind = '', expires = '', mac = ''] = match;
  if (!isId('usr', userId) || !isNoticeKind(kind) || !isOptional(kind)) return undefined;
  return { said, mac, grant: { userId, kind }, expiresMs: Number(expires) * 1000 };
}

async function signatureOf(db: Database, said: string): Promise<string> {
  const { key } = await getInstallationKey(db, 'unsubscribe_links');
  return createHmac('sha256', key).update(`unsubscribe:${said}`).digest('base64url');
}
