import { webhookSwitchedOffMail } from '../../../domain/mails/webhooks.js';
import type { WhyOff } from '../../../domain/events/events.js';
import { isWhole, type Whole } from './whole.js';

const url = 'https://example.com/hook';
const mail = (why: WhyOff, reason: string): Whole => [
  `tells that one was switched off: ${why}`,
  webhookSwitchedOffMail({ url, why }),
  'Your webhook was switched off',
  [
    `We no longer send anything to https://example.com/hook. ${reason}`,
    '',
    'When it works again, set its address (PATCH /v1/webhooks/:id with its url), and we send it a new challenge. To get',
    'the events of the last 30 days that it missed, call POST /v1/webhooks/:id/redeliver.',
  ],
];

describe('mails about webhooks', () => {
  for (const whole of [
    mail('gone', 'It answered 410 Gone.'),
    mail('no_success', 'It has accepted nothing for three days.'),
    mail('challenge_unanswered', 'It has not answered its challenge for three days.'),
  ]) {
    it(whole[0], () => isWhole(whole));
  }
});
