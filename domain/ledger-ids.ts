import { isId, type LedgerEntryId } from './ids.js';

/**
 * A ledger entry is keyed by its wallet and its number there. Its public id is these two numbers, 64 bits each, in
 * the same 26 Crockford characters as every other id (decision 1): stable, and no column for billions of rows.
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 26;

/** The public id of a ledger entry. */
export function ledgerEntryId(walletId: number, seq: number): LedgerEntryId {
  let bits = (BigInt(walletId) << 64n) | BigInt(seq);
  let text = '';
  for (let index = 0; index < LENGTH; index += 1) {
    text = ALPHABET.charAt(Number(bits & 31n)) + text;
    bits >>= 5n;
  }
  return `led_${text}`;
}

/** What a public id stands for; undefined for a text that is no id of a ledger entry. */
export function parseLedgerEntryId(text: string): { walletId: number; seq: number } | undefined {
  if (!isId('led', text)) return undefined;
  let bits = 0n;
  for (const character of text.slice('led_'.length)) {
    bits = (bits << 5n) | BigInt(ALPHABET.indexOf(character));
  }
  const walletId = Number(bits >> 64n);
  const seq = Number(bits & 0xffff_ffff_ffff_ffffn);
  return Number.isSafeInteger(walletId) && Number.isSafeInteger(seq) ? { walletId, seq } : undefined;
}
