import {
  bool,
  cents,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { operation } from '../http/openapi/operation.js';

const standing = named(
  'Standing',
  object({
    blockedReason: orNull(text, 'Why you can’t rent or add money; null while you can.'),
    chargesHeld: {
      ...bool,
      description: 'A payment was disputed or reported as fraud, so your card is not charged automatically.',
    },
    reversals: {
      ...listOf(
        named(
          'Reversal',
          object({
            kind: oneOf(['refund', 'dispute']),
            amountCents: cents('What was refunded or disputed.'),
            debitedCents: cents('What we took from your wallet for it.'),
            invoicedCents: cents('What you had spent of it, and owe by an invoice.'),
            takenAt: instant,
          }),
        ),
      ),
      description:
        'Payments that were reversed: by disputes that are open, and in the last 7 days. Newest first.',
    },
  }),
);

const example: ValueOf<typeof standing> = {
  blockedReason: null,
  chargesHeld: true,
  reversals: [
    {
      ...{ kind: 'dispute', amountCents: 2_000, debitedCents: 1_500, invoicedCents: 500 },
      takenAt: '2026-11-01T10:30:00.000Z',
    },
  ],
};

export const showStanding = operation({
  method: 'get',
  path: '/v1/billing/standing',
  scope: 'billing',
  name: 'showStanding',
  tag: 'Wallet',
  summary: 'Whether anything is wrong with your account',
  answers: [
    {
      description: 'Blocks, and payments that were reversed.',
      schema: standing,
      examples: [example, { blockedReason: null, chargesHeld: false, reversals: [] }],
    },
  ],
});
