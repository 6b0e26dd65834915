import { isId, type LedgerEntryId } from '../ids.js';

/**
 * The key of a ledger entry is its wallet and its number there: 64 bits each, in the same 26 Crockford characters as
 * every other id (decision 1, "Public ids"). It is stable and needs no column for billions of rows. Release 0.1 showed
 * entries in this plain form, and operators' findings name them so; users see the ids enciphered
 * (adapters/postgres/ledger/ledger-ids.ts, decision 86, "Ids of ledger entries").
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 26;

/** The place of an entry. */
export interface EntryKey {
  readonly walletId: number;
  readonly seq: number;
}

/** The plain id of a ledger entry. */
export function ledgerEntryId(walletId: number, seq: number): LedgerEntryId {
  return ledgerIdOf((BigInt(walletId) << 64n) | BigInt(seq));
}

/** Reads wallet and number from the 128 bits; undefined where they are larger than any that is counted to. */
export function entryKeyOf(bits: bigint): EntryKey | undefined {
  const walletId = Number(bits >> 64n);
  const seq = Number(bits & 0xffff_ffff_ffff_ffffn);
  return Number.isSafeInteger(walletId) && Number.isSafeInteger(seq) ? { walletId, seq } : undefined;
}

/** As many bits as six characters have, which a number holds: large integers cost the most of writing an id. */
const STEP_BITS = 30n;
const STEP_MASK = (1n << STEP_BITS) - 1n;

/** An id of a ledger entry of up to 130 bits. */
export function ledgerIdOf(bits: bigint): LedgerEntryId {
  let rest = bits;
  let text = '';
  while (text.length < LENGTH) {
    const step = Number(rest & STEP_MASK);
    for (let shift = 0; shift < 30; shift += 5) text = ALPHABET.charAt((step >>> shift) & 31) + text;
    rest >>= STEP_BITS;
  }
  return `led_${text.slice(-LENGTH)}`;
}

/** The 130 bits of an id; undefined for a text that is no id of a ledger entry. */
export function ledgerIdBits(text: string): bigint | undefined {
  if (!isId('led', text)) return undefined;
  let bits = 0n;
  for (const character of text.slice('led_'.length)) {
    bits = (bits << 5n) | BigInt(ALPHABET.indexOf(character));
  }
  return bits;
}
