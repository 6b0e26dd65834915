/** What can be switched off, and what is always sent (decision 103, "Notices by mail"). */
interface Kind {
  /** What its users read of it in GET /v1/notices. */
  readonly description: string;
  /** False for what is about money, or about who may enter the account. */
  readonly canSwitchOff: boolean;
}

/**
 * The kinds of mails that tell a user what they did not ask for themselves. `payments` are the mails that answer a
 * payment; each of the others has its own.
 */
export const noticeKinds = {
  rental_auto_stop: {
    description: 'A machine was stopped at the time that you had set.',
    canSwitchOff: true,
  },
  rental_spend_limit: {
    description: 'A machine was stopped at the spend limit that you had set.',
    canSwitchOff: true,
  },
  rental_balance_exhausted: {
    description: 'A machine was stopped because the balance was used up.',
    canSwitchOff: false,
  },
  rental_operator_stop: { description: 'A machine was stopped by our operators.', canSwitchOff: true },
  rental_lost: { description: 'A machine was lost at its provider.', canSwitchOff: true },
  rental_failed: {
    description: 'A machine could not be provided: it never answered, or none was to be had.',
    canSwitchOff: true,
  },
  low_balance: {
    description: 'The balance will soon be used up by the machines that run.',
    canSwitchOff: false,
  },
  budget_reached: {
    description: 'A half, four fifths or all of the month’s budget is spent.',
    canSwitchOff: false,
  },
  auto_topup_off: { description: 'Automatic top-ups were switched off by us.', canSwitchOff: false },
  payments: {
    description: 'Receipts, failed payments, refunds, disputes, invoices, and cards that expire.',
    canSwitchOff: false,
  },
  ssh_key_added: {
    description: 'An SSH key was added: it enters machines that are rented from then on.',
    canSwitchOff: false,
  },
  api_key_created: {
    description: 'An API key was made: a program can call the API with it, in the name of this account.',
    canSwitchOff: false,
  },
  card_saved: {
    description: 'A card was saved: it can be charged for this account.',
    canSwitchOff: false,
  },
} as const satisfies Readonly<Record<string, Kind>>;

export type NoticeKind = keyof typeof noticeKinds;

/** The kinds that a user may switch off. */
export type OptionalKind = {
  [K in NoticeKind]: (typeof noticeKinds)[K]['canSwitchOff'] extends true ? K : never;
}[NoticeKind];

/** The kinds that are noted one by one, and told together; a mail of its own tells each of the others. */
export type ToldKind = Exclude<NoticeKind, 'low_balance' | 'payments'>;

export function isNoticeKind(text: string): text is NoticeKind {
  return Object.hasOwn(noticeKinds, text);
}

export function isOptional(kind: NoticeKind): kind is OptionalKind {
  return noticeKinds[kind].canSwitchOff;
}

/** Every kind, in the order in which they are shown. */
export const allNoticeKinds = Object.keys(noticeKinds) as readonly NoticeKind[];
