import { randomBytes } from 'node:crypto';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a random id in the processor's form: a prefix, an underscore and letters and digits. */
export function newId(prefix: string, length = 24): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: higher values would favour some characters.
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62);
    }
  }
  return `${prefix}_${text}`;
}

/** The id behind a field that holds an id or, once expanded, the object itself. */
export function idOf(value: string | { readonly id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : value.id;
}
