import { randomBytes } from 'node:crypto';

/** Makes an id like a payment processor's; the mock has no processor. */
export function newProcessorId(prefix: 'ch' | 'cs' | 'in' | 'pm' | 'seti'): string {
  return `${prefix}_mock_${randomBytes(12).toString('hex')}`;
}

/** The id of the payment that a charge belongs to. */
export function paymentOf(chargeId: string): string {
  return chargeId.replace('ch_', 'pi_');
}
