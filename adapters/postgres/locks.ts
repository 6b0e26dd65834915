import type { UserId } from '../../domain/ids.js';
import type { Transaction } from './database.js';

/**
 * The first keys of the advisory locks: PostgreSQL knows them by number alone, so each stands here once. A number stays
 * what it is, since programs of two versions run side by side while one is put in place.
 */
export const lockNumbers = {
  /** By mailbox: its codes are counted. */
  loginCodesOfMailbox: 7_101,
  /** By client address: its codes are counted. */
  loginCodesOfClient: 7_102,
  /** By provider: one sync after the other. The trigger `count_families` takes it too. */
  catalogOfProvider: 7_103,
  /** By user: their keys are counted. */
  sshKeysOfUser: 7_104,
  /** By top-up: its beginning, and the sending for its page or charge, against the last look at it. */
  topup: 7_105,
  /** By user: their codes are counted. */
  proofCodesOfUser: 7_106,
  /** By user: their endpoints are counted. */
  webhooksOfUser: 7_107,
  /** By user: their keys are counted. */
  apiKeysOfUser: 7_108,
  /** By user: each change tells what it did. */
  noticeSettingsOfUser: 7_109,
  /** By login: what its operator moved alone is summed up. */
  ordersOfLogin: 7_110,
  /** By user: the top-ups that a young account begins are counted. */
  topupsOfUser: 7_111,
  /** By wallet: who seals its ledger, or unseals it (migrations/050-ledger-seals.sql). */
  sealsOfWallet: 7_112,
  /** Whether anything may be sealed: shared by who seals, alone for who switches it. */
  sealing: 7_113,
  /** Who signs a root. */
  signer: 7_114,
  /** By user: their passkeys are counted. */
  passkeysOfUser: 7_116,
} as const satisfies Record<string, number>;

/**
 * Who numbers events, in the letters "evnt". Locks of a single key are apart from those of two, and share their space
 * with those of a user's streams, which are spread over the whole of it.
 */
export const SEQUENCER_LOCK = 0x65766e74;
const STREAMS_SEED = 100;

/** Holds, until the transaction ends, the lock under which a user's open streams are counted. */
export async function lockStreamsOf(trx: Transaction, userId: UserId): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, ?))', [userId, STREAMS_SEED]);
}

/** Holds a lock until the transaction ends, once nobody else does. @param of whose it is: an id, or another text */
export async function lockBy(trx: Transaction, name: keyof typeof lockNumbers, of: string): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [lockNumbers[name], of]);
}
