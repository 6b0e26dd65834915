/** What an API key may do, besides nothing (decision 108, "API keys"). Each route that keys may call names one. */
export const apiKeyScopes = ['read', 'rentals', 'billing', 'setup'] as const;

export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** Which machines a key may end: all of its user's, or those alone that it opened. */
export const apiKeyEnds = ['all', 'own'] as const;

export type ApiKeyEnds = (typeof apiKeyEnds)[number];

/** A key is this prefix, 30 random characters, and six that check them. */
const PREFIX = 'gpur_';
const RANDOM_CHARS = 30;
const CHECK_CHARS = 6;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const FORM = new RegExp(`^${PREFIX}([0-9A-Za-z]{${RANDOM_CHARS}})([0-9A-Za-z]{${CHECK_CHARS}})$`);

/**
 * Writes a new key.
 * @param randomDigit draws a whole number from 0 to 61, evenly and unguessably
 */
export function writeApiKey(randomDigit: () => number): string {
  const random = Array.from({ length: RANDOM_CHARS }, () => DIGITS.charAt(randomDigit())).join('');
  return `${PREFIX}${random}${checksumOf(random)}`;
}

/**
 * Tells whether a text can be a key: whoever mistypes one, or cuts it, hears so without a look into the database. It
 * proves nothing else, because anybody can compute it.
 */
export function looksLikeApiKey(text: string): boolean {
  const [, random, checksum] = FORM.exec(text) ?? [];
  return random !== undefined && checksum === checksumOf(random);
}

/** The CRC-32 (IEEE 802.3) of the random part, in base 62, with zeros in front: the form that secret scanners check. */
function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let at = 0; at < CHECK_CHARS; at += 1) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
    rest = Math.floor(rest / DIGITS.length);
  }
  return text;
}

function crc32(ascii: string): number {
  let crc = 0xffff_ffff;
  for (let at = 0; at < ascii.length; at += 1) {
    crc ^= ascii.charCodeAt(at);
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
