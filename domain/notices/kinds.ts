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
    description: 'We stopped a machine at the time you set.',
    canSwitchOff: true,
  },
  rental_spend_limit: {
    description: 'We stopped a machine at the spending limit you set.',
    canSwitchOff: true,
  },
  rental_idle_near: {
    description: 'A machine is idle and will stop in 10 minutes, because you asked for that.',
    canSwitchOff: true,
  },
  rental_idle: {
    description: 'We stopped a machine because it was idle for as long as you set.',
    canSwitchOff: true,
  },
  rental_balance_exhausted: {
    description: 'We stopped a machine because your balance ran out.',
    canSwitchOff: false,
  },
  rental_operator_stop: { description: 'Our operators stopped a machine.', canSwitchOff: true },
  rental_lost: { description: 'A provider lost a machine.', canSwitchOff: true },
  rental_failed: {
    description: 'We could not provide a machine: it never answered, or none was available.',
    canSwitchOff: true,
  },
  low_balance: {
    description: 'Your balance will soon run out.',
    canSwitchOff: false,
  },
  budget_reached: {
    description: 'You have spent 50, 80 or 100% of your budget for the month.',
    canSwitchOff: false,
  },
  statement: {
    description: 'Your statement of last month: what you paid in and spent, and how to prove it later.',
    canSwitchOff: true,
  },
  webhook_switched_off: {
    description: 'We switched a webhook off, because it did not accept what we sent.',
    canSwitchOff: true,
  },
  auto_topup_off: { description: 'We turned automatic top-ups off.', canSwitchOff: false },
  payments: {
    description: 'Receipts, failed payments, refunds, disputes, invoices and expired cards.',
    canSwitchOff: false,
  },
  ssh_key_added: {
    description: 'An SSH key was added: it opens machines rented from then on.',
    canSwitchOff: false,
  },
  passkey_added: {
    description: 'A passkey was added: it signs in to your account.',
    canSwitchOff: false,
  },
  passkey_refused: {
    description: 'We refused a passkey of yours, because somebody may have copied it.',
    canSwitchOff: false,
  },
  api_key_created: {
    description: 'An API key was created: a program can call the API with it in your name.',
    canSwitchOff: false,
  },
  api_key_widened: {
    description: 'An API key may spend more, or be used from more addresses.',
    canSwitchOff: false,
  },
  setup_acted: {
    description: 'An API key set something up: a webhook, an SSH key or a budget.',
    canSwitchOff: false,
  },
  card_saved: {
    description: 'A card was saved: we can charge it for this account.',
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
