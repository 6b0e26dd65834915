const DIGIT = /\p{Nd}/u;

/** Writes the digits of any script as 0 to 9, and wide letters and signs as narrow ones; all else stays. */
export function plainDigits(text: string): string {
  return text.normalize('NFKC').replace(/\p{Nd}/gu, (digit) => valueOf(digit).toString());
}

/** Each script has its ten digits in a row, behind something that is none. */
function valueOf(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && DIGIT.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}
