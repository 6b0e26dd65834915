/** Brands of cards as people write them, by the processor's word. The clients have the same list. */
const names: ReadonlyMap<string, string> = new Map([
  ['amex', 'American Express'],
  ['cartes_bancaires', 'Cartes Bancaires'],
  ['diners', 'Diners Club'],
  ['discover', 'Discover'],
  ['eftpos_au', 'Eftpos Australia'],
  ['jcb', 'JCB'],
  ['link', 'Link'],
  ['mastercard', 'Mastercard'],
  ['unionpay', 'UnionPay'],
  ['visa', 'Visa'],
]);

/** The brand of a card as people write it; one that is not known stays as the processor says it. */
export function brandOf(brand: string): string {
  return names.get(brand) ?? brand;
}
