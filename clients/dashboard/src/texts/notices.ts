import { texts } from './texts.js';

/** Which mails are sent without having been asked for. */
export const noticeTexts = texts({
  title: 'Notices',
  lead: 'What is mailed to you without your asking.',
  mailedTo: (email: string) => `Mails go to ${email}.`,
  optional: 'You choose',
  always: 'Always sent',
  alwaysText: 'They are about money, or about who may enter the account, and can’t be switched off.',
  on: 'On',
  off: 'Off',
  saving: 'Saving',
  saved: 'Saved',
  notSaved: 'It was not saved',
  kinds: {
    rental_auto_stop: 'Stopped at its time',
    rental_spend_limit: 'Stopped at its spend limit',
    rental_balance_exhausted: 'Stopped without money',
    rental_operator_stop: 'Stopped by operators',
    rental_lost: 'Machine lost',
    rental_failed: 'Machine not provided',
    low_balance: 'Low balance',
    budget_reached: 'Budget reached',
    auto_topup_off: 'Automatic top-ups off',
    payments: 'Payments',
    ssh_key_added: 'SSH key added',
    api_key_created: 'API key made',
    card_saved: 'Card saved',
  },
});
