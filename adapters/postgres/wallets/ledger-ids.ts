import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { LedgerEntryId } from '../../../domain/ids.js';
import { entryKeyOf, ledgerIdBits, ledgerIdOf, type EntryKey } from '../../../domain/ledger/ledger-ids.js';
import type { Database } from '../database.js';
import { getInstallationKey } from './installation-keys.js';

/** The public ids of ledger entries in this installation. */
export interface LedgerIds {
  /** Returns the public id. */
  of(walletId: number, seq: number): LedgerEntryId;
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
  // ECB fits here: there is only one block, so there is nothing to chain.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  return {
    since,
    of(walletId, seq) {
      const block = Buffer.alloc(BLOCK_BYTES);
      block.writeBigUInt64BE(BigInt(walletId), 0);
      block.writeBigUInt64BE(BigInt(seq), 8);
      return ledgerIdOf(FORM | bitsOf(cipher.update(block)));
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

function bitsOf(block: Buffer): bigint {
  return (block.readBigUInt64BE(0) << 64n) | block.readBigUInt64BE(8);
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
