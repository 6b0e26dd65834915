import { randomBytes } from 'node:crypto';

/** The id of something at a payment processor that there is none of. */
export function newProcessorId(prefix: 'ch' | 'cs' | 'in' | 'pm' | 'seti'): string {
  return `${prefix}_mock_${randomBytes(12).toString('hex')}`;
}
