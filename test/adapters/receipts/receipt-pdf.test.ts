import assert from 'node:assert/strict';
import { runsOf } from '../../../adapters/receipts/fonts.js';
import { receiptPdf } from '../../../adapters/receipts/receipt-pdf.js';
import {
  billingDetailsMax,
  noBillingDetails,
  type Receipt,
  type Seller,
} from '../../../domain/payments/receipt.js';
import { textsOfPdf } from '../../support/receipts.js';

const seller: Seller = {
  name: 'Example Compute GmbH',
  address: ['1 Example Street', '10115 Berlin'],
  taxId: 'DE123456789',
};
const receipt: Receipt = {
  topupId: 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
  paidAt: new Date('2026-11-27T23:30:00Z'),
  paidCents: 123_456,
  reversedCents: 0,
  isAuto: false,
  card: { brand: 'visa', last4: '4242' },
  email: 'ann@example.com',
  seller,
  buyer: { name: 'Łódź s.r.o.', address: 'Ulice 5\nPraha', taxId: 'CZ1234' },
};

const textsOf = async (parts: Partial<Receipt> = {}) =>
  textsOfPdf(await receiptPdf({ ...receipt, ...parts }));

describe('a receipt as a PDF', function () {
  this.timeout(20_000);

  it('says its number, its day, who sold, who bought, and what was paid by which card', async () => {
    const texts = await textsOf();
    for (const text of [
      ...['top_01ARZ3NDEKTSV4RRFFQ69G5FAV', '2026-11-27 (UTC)', 'Visa ending in 4242'],
      ...['Example Compute GmbH', '1 Example Street', '10115 Berlin', 'Tax ID: DE123456789'],
      ...['Łódź s.r.o.', 'Ulice 5', 'Praha', 'ann@example.com', 'Tax ID: CZ1234'],
      ...['Top-up', '$1,234.56', 'Total paid'],
    ]) {
      assert.ok(texts.replaceAll('\n', '').includes(text), `${text} is not in\n${texts}`);
    }
    assert.doesNotMatch(texts, /Refunded/);
  });

  it('says what was taken back, and what is left', async () => {
    const texts = await textsOf({ reversedCents: 23_456, isAuto: true, card: null });
    for (const text of ['Automatic top-up', '−$234.56', '$1,000.00', 'Card']) {
      assert.ok(texts.includes(text), `${text} is not in\n${texts}`);
    }
  });

  it('names somebody who said nothing of themselves by their address', async () => {
    const texts = await textsOf({
      buyer: noBillingDetails,
      seller: { name: 'X', address: [], taxId: null },
    });
    assert.ok(texts.includes('ann@example.com'));
    assert.doesNotMatch(texts, /Tax ID|null|undefined/);
  });

  it('is the same file for the same facts', async () => {
    assert.ok((await receiptPdf(receipt)).equals(await receiptPdf(receipt)));
  });

  it('fits a page with the longest details', async () => {
    const [name, taxId] = ['W'.repeat(billingDetailsMax.name), 'W'.repeat(billingDetailsMax.taxId)];
    const buyer = { name, address: 'W\n'.repeat(billingDetailsMax.address / 2), taxId };
    const wide = { ...buyer, address: 'W'.repeat(billingDetailsMax.address) };
    for (const each of [buyer, wide]) {
      const pdf = await receiptPdf({ ...receipt, buyer: each, reversedCents: 1 });
      assert.equal(pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length, 1);
    }
  });

  it('has a sign for every name', async () => {
    const names = ['株式会社テスト', '김철수', 'Nguyễn Thị Phương', 'Γιώργος', 'Київ', 'สมชาย', 'अमित', '😀'];
    for (const name of names) {
      assert.equal(
        runsOf(name)
          .map(({ text }) => text)
          .join(''),
        name,
      );
      for (const { font, text } of runsOf(name)) {
        for (const sign of text) assert.ok(font.has(sign.codePointAt(0)!), `${font.name} has no ${sign}`);
      }
    }
    const texts = await textsOf({ buyer: { ...noBillingDetails, name: '株式会社テスト' } });
    assert.ok(texts.includes('株式会社テスト'), texts);
  });

  it('keeps the words of a text that runs from right to left apart', () => {
    assert.deepEqual(
      runsOf('דוד כהן').map(({ text }) => text),
      ['דוד\u00a0כהן'],
    );
    for (const { font, text } of [...runsOf('דוד כהן'), ...runsOf('محمد علي')]) {
      for (const sign of text) assert.ok(font.has(sign.codePointAt(0)!), `${font.name} has no ${sign}`);
    }
  });
});
