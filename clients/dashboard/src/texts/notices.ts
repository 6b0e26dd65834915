import { texts } from './texts.js';

/** Which mails are sent without having been asked for. */
export const noticeTexts = texts({
  title: 'Notices',
  lead: 'Emails that we send you when something happens.',
  mailedTo: (email: string) => `We send them to ${email}.`,
  optional: 'You choose',
  always: 'Always sent',
  alwaysText: 'These are about your money or access to your account, so you can’t turn them off.',
  on: 'On',
  off: 'Off',
  saving: 'Saving',
  saved: 'Saved',
  notSaved: 'Not saved',
  kinds: {
    rental_auto_stop: 'Stopped at its time limit',
    rental_spend_limit: 'Stopped at its spending limit',
    rental_idle_near: 'Idle and about to stop',
    rental_idle: 'Stopped for being idle',
    rental_balance_exhausted: 'Stopped because your balance ran out',
    rental_operator_stop: 'Stopped by our operators',
    rental_lost: 'Machine lost',
    rental_failed: 'Machine could not be provided',
    low_balance: 'Low balance',
    budget_reached: 'Budget reached',
    auto_topup_off: 'Automatic top-ups off',
    payments: 'Payments',
    ssh_key_added: 'SSH key added',
    api_key_created: 'API key created',
    setup_acted: 'API key changed your setup',
    card_saved: 'Card saved',
  },
});
