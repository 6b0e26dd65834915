import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { LedgerEntryId } from '../../../domain/ids.js';
import { entryKeyOf, ledgerIdBits, ledgerIdOf, type EntryKey } from '../../../domain/ledger/ledger-ids.js';
import type { Database } from '../database.js';
import { getInstallationKey } from '../wallets/installation-keys.js';

/** The public ids of ledger entries in this installation. */
export interface LedgerIds {
  /** Returns the public id. */
  of(walletId: number, seq: number): LedgerEntryId;
  /** Adds their public ids to many entries, for much less than one by one. */
  withIds<Entry extends EntryKey>(entries: readonly Entry[]): (Entry & { readonly id: LedgerEntryId })[];
  /** Reads an id, in this form or the plain one of release 0.1; undefined for a text that is neither. */
  parse(text: string): (EntryKey & { readonly isPlain: boolean }) | undefined;
  /** Younger entries were never shown with a plain id. */
  readonly since: Date;
}

const BLOCK_BYTES = 16;
/** The first of 26 characters holds two bits more than the block: 01 marks this form, 00 the plain one. */
const FORM = 1n << 128n;

/**
 * Enciphers wallet and number. One block of AES-128 is a permutation of 128 bits, so ids are as unique as their
 * entries, need no column, and do not tell how many wallets there are (decision 86, "Ids of ledger entries").
 * @param key 16 bytes
 * @param since when the key was made
 */
export function createLedgerIds(key: Buffer, since: Date): LedgerIds {
  // ECB fits here: each block is an id by itself, and nothing chains them.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const withIds: LedgerIds['withIds'] = (entries) => {
    const blocks = Buffer.alloc(BLOCK_BYTES * entries.length);
    entries.forEach(({ walletId, seq }, index) => {
      blocks.writeBigUInt64BE(BigInt(walletId), index * BLOCK_BYTES);
      blocks.writeBigUInt64BE(BigInt(seq), index * BLOCK_BYTES + 8);
    });
    const enciphered = cipher.update(blocks);
    return entries.map((entry, index) => ({
      ...entry,
      id: ledgerIdOf(FORM | bitsOf(enciphered, index * BLOCK_BYTES)),
    }));
  };
  return {
    since,
    withIds,
    of(walletId, seq) {
      const [entry] = withIds([{ walletId, seq }]);
      if (!entry) throw new Error('an entry has an id');
      return entry.id;
    },
    parse(text) {
      const bits = ledgerIdBits(text);
      if (bits === undefined) return undefined;
      const form = bits >> 128n;
      if (form > 1n) return undefined;
      const isPlain = form === 0n;
      const entry = entryKeyOf(isPlain ? bits : bitsOf(decipher.update(blockOf(bits))));
      return entry && { ...entry, isPlain };
    },
  };
}

function bitsOf(blocks: Buffer, offset = 0): bigint {
  return (blocks.readBigUInt64BE(offset) << 64n) | blocks.readBigUInt64BE(offset + 8);
}

function blockOf(bits: bigint): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.writeBigUInt64BE((bits >> 64n) & 0xffff_ffff_ffff_ffffn, 0);
  block.writeBigUInt64BE(bits & 0xffff_ffff_ffff_ffffn, 8);
  return block;
}

const made = new WeakMap<Buffer, LedgerIds>();

/** Returns the ids of the installation to which the database belongs. */
export async function getLedgerIds(db: Database): Promise<LedgerIds> {
  const { key, created_at: since } = await getInstallationKey(db, 'ledger_ids');
  const ids = made.get(key) ?? createLedgerIds(key, since);
  made.set(key, ids);
  return ids;
}
