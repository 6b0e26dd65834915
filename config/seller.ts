import { unnamedSeller, type Seller } from '../domain/payments/receipt.js';
import { filled, trimmed, withDefault, type ValuesOf } from './variables.js';

/** Who runs this installation, as receipts name them. */
export const sellerVariables = {
  SELLER_NAME: withDefault(filled.max(200), unnamedSeller.name),
  SELLER_ADDRESS: withDefault(trimmed.max(500), ''),
  SELLER_TAX_ID: withDefault(trimmed.max(50), ''),
};

export function sellerOf(env: ValuesOf<typeof sellerVariables>): Seller {
  const lines = env.SELLER_ADDRESS.split(';').map((line) => line.trim());
  return {
    name: env.SELLER_NAME,
    address: lines.filter((line) => line !== ''),
    taxId: env.SELLER_TAX_ID === '' ? null : env.SELLER_TAX_ID,
  };
}
