import { lookUp } from './words.js';

const names: Readonly<Record<string, string>> = {
  amex: 'American Express',
  cartes_bancaires: 'Cartes Bancaires',
  diners: 'Diners Club',
  discover: 'Discover',
  eftpos_au: 'Eftpos Australia',
  jcb: 'JCB',
  link: 'Link',
  mastercard: 'Mastercard',
  unionpay: 'UnionPay',
  visa: 'Visa',
};

/** The brand of a card as people write it: "Visa" for `visa`. One that is not known stays as the service says it. */
export function brandName(brand: string): string {
  return lookUp(names, brand) ?? brand;
}
