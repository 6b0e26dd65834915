/**
 * Writes cents as people read them: 123456 -> "$1,234.56", -5 -> "-$0.05".
 * @param cents whole US cents
 */
export function usd(cents: number): string {
  const absolute = Math.abs(cents);
  const dollars = String(Math.trunc(absolute / 100)).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}$${dollars}.${String(absolute % 100).padStart(2, '0')}`;
}

/**
 * Reads an amount of dollars as people write it: "20", "$20", "1,250.50".
 * @returns whole cents, or undefined when it is no amount, or below a cent
 */
export function centsOf(text: string): number | undefined {
  const match = /^\$?((?:\d{1,3}(?:,\d{3})+|\d{1,9}))(?:\.(\d{1,2}))?$/.exec(text.trim());
  if (!match) return undefined;
  const [, dollars = '', part = ''] = match;
  const cents = Number(dollars.replaceAll(',', '')) * 100 + Number(part.padEnd(2, '0'));
  return cents > 0 ? cents : undefined;
}
