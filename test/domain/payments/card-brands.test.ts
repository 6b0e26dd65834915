import assert from 'node:assert/strict';
import { brandName } from '@gpu-rental/client';
import { brandOf } from '../../../domain/payments/card-brands.js';

describe('the brand of a card', () => {
  it('is told as people write it, alike in mails, receipts, the dashboard and the command', () => {
    const brands = {
      visa: 'Visa',
      mastercard: 'Mastercard',
      amex: 'American Express',
      jcb: 'JCB',
      cartes_bancaires: 'Cartes Bancaires',
      newbrand: 'newbrand',
      constructor: 'constructor',
    };
    for (const [brand, name] of Object.entries(brands)) {
      assert.deepEqual([brandOf(brand), brandName(brand)], [name, name]);
    }
    for (const brand of ['diners', 'discover', 'eftpos_au', 'link', 'unionpay']) {
      assert.equal(brandOf(brand), brandName(brand));
      assert.notEqual(brandOf(brand), brand);
    }
  });
});
