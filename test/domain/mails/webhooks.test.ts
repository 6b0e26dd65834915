import { webhookSwitchedOffMail } from '../../../domain/mails/webhooks.js';
import type { WhyOff } from '../../../domain/webhooks/webhook.js';
import { isWhole, type Whole } from './whole.js';

const url = 'https://example.com/hook';
const mail = (why: WhyOff, reason: string): Whole => [
  `tells that one was switched off: ${why}`,
  webhookSwitchedOffMail({ url, why }),
  'Your webhook was switched off',
  [
    `Nothing is sent to https://example.com/hook any more. ${reason}`,
    '',
    'When it works again, set its address (PATCH /v1/webhooks/:id with its url): it is challenged anew. Events that it',
    'missed are sent again by POST /v1/webhooks/:id/redeliver, for 30 days.',
  ],
];

describe('mails about webhooks', () => {
  for (const whole of [
    mail('gone', 'It answered 410 Gone.'),
    mail('no_success', 'It has taken nothing for three days.'),
    mail('challenge_unanswered', 'It has not answered its challenge for three days.'),
  ]) {
    it(whole[0], () => isWhole(whole));
  }
});
