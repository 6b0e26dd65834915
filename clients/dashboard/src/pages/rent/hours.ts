import { plainDigits } from '../../format/digits.js';

/** Reads hours as people type them: “2”, “0.5”. @returns undefined for anything else, and beyond 720 */
export function hoursOf(text: string): number | undefined {
  const plain = plainDigits(text).trim();
  if (!/^\d{1,3}(?:\.\d{1,4})?$/.test(plain)) return undefined;
  const hours = Number(plain);
  return hours > 0 && hours <= 720 ? hours : undefined;
}
