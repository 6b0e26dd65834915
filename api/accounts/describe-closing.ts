import { closingLimits, closingStates, closingWaits } from '../../domain/accounts/closing.js';
import { DAY } from '../../domain/durations.js';
import {
  cents,
  count,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
} from '../http/openapi/json-schema.js';
import { operation, type Operation } from '../http/openapi/operation.js';
import { fields, joi, needed } from '../http/fields.js';

export const closeSchema = fields({ email: needed(joi.text().min(1).maxChars(254)) });

const tag = 'Sign-in';
const waitDays = closingLimits.waitMs / DAY;

const cardReturn = named(
  'CardReturn',
  object({
    paymentId: { ...text, description: 'The payment, at the payment processor.' },
    amountCents: cents('What goes back of it.'),
    cardBrand: orNull(text, 'Null: not known.'),
    cardLast4: orNull(text, 'Null: not known.'),
    status: {
      ...oneOf(['planned', 'sent', 'refused']),
      description: 'planned: as of now. sent: on its way to the card. refused: the payment takes none back.',
    },
  }),
);

const closing = named(
  'AccountClosing',
  object({
    state: orNull(
      named('AccountClosingState', oneOf(closingStates)),
      'How far it is; null while nobody has asked for it.',
    ),
    requestedAt: orNull(instant),
    waitsFor: {
      ...listOf(named('AccountClosingWait', oneOf(closingWaits))),
      description: 'What it waits for at its last look.',
    },
    machines: { ...count, description: 'Machines that are not gone yet: closing ends them.' },
    openInvoices: {
      ...count,
      description: `Open invoices that you owe. Closing waits for them, for up to ${waitDays} days, and also for invoices that are being issued or voided, which don’t count here.`,
    },
    openDisputes: {
      ...count,
      description: `Payments that you deny at your bank. Closing waits for them, for up to ${waitDays} days.`,
    },
    returns: {
      ...listOf(cardReturn),
      description:
        'What you paid in and did not use goes back to the cards that paid it, the newest payment first.',
    },
    lapsesCents: cents('Given money, which lapses, and what you owe, which is set off.'),
  }),
);

const before = {
  state: null,
  requestedAt: null,
  waitsFor: [],
  machines: 1,
  openInvoices: 0,
  openDisputes: 0,
  returns: [
    {
      paymentId: 'pi_3Nv5cD2eZvKYlo2C0x1Yabcd',
      amountCents: 1_750,
      cardBrand: 'visa',
      cardLast4: '4242',
      status: 'planned' as const,
    },
  ],
  lapsesCents: 500,
};

export const showClosing = operation({
  method: 'get',
  path: '/v1/account/closing',
  name: 'showAccountClosing',
  tag,
  summary: 'What closing your account does, or how far it is',
  description: 'Before you close it, the amounts are as of now: running machines still cost money.',
  answers: [{ description: 'How it stands.', schema: closing, examples: [before] }],
});

export const closeAccount = operation({
  method: 'post',
  path: '/v1/account/close',
  name: 'closeAccount',
  tag,
  summary: 'Closes your account for good',
  description: `Your machines are stopped, your API keys end, and nothing new can begin. We wait up to ${waitDays} days for invoices and disputes that are open. Then what you paid in and did not use goes back to your cards, credit we gave you expires, and we erase your personal data: address, names, keys, cards and emails. Accounting records that the law requires stay under your account’s number. It can’t be undone. Until your personal data is erased you can sign in and see how far it is. Asking again changes nothing.`,
  body: { schema: closeSchema, examples: [{ email: 'ann@example.com' }] },
  answers: [
    {
      description: 'It is being closed.',
      schema: closing,
      examples: [{ ...before, state: 'stopping', requestedAt: '2026-11-01T09:30:00.000Z' }],
    },
  ],
  refusals: ['fresh_sign_in_required', 'invalid_email'],
});

export const closingOperations: readonly Operation[] = [showClosing, closeAccount];
