import { noticeMail } from '../../../domain/mails/notices.js';
import type { WhyOff } from '../../../domain/events/events.js';
import { isWhole, type Whole } from './whole.js';

const off = (why: WhyOff, name = 'hook') => {
  const webhookId = 'wh_01JD0000000000000000000000' as const;
  return { webhookId, url: `https://example.com/${name}`, why };
};
const next = [
  '',
  'When it works again, set its address (PATCH /v1/webhooks/:id with its url), and we send it a new challenge. To get',
  'the events of the last 30 days that it missed, call POST /v1/webhooks/:id/redeliver.',
];
const mail = (why: WhyOff, reason: string): Whole => [
  `tells that one was switched off: ${why}`,
  noticeMail({ kind: 'webhook_switched_off', all: [off(why)] }, null),
  'Your webhook was switched off',
  ['We no longer send anything to it.', '', `https://example.com/hook: ${reason}`, ...next],
];

describe('mails about webhooks', () => {
  for (const whole of [
    mail('gone', 'It answered 410 Gone.'),
    mail('no_success', 'It has accepted nothing for three days.'),
    mail('challenge_unanswered', 'It has not answered its challenge for three days.'),
    [
      'tells of several that were switched off',
      noticeMail({ kind: 'webhook_switched_off', all: [off('gone'), off('no_success', 'other')] }, null),
      '2 of your webhooks were switched off',
      [
        'We no longer send anything to them.',
        '',
        'https://example.com/hook: It answered 410 Gone.',
        'https://example.com/other: It has accepted nothing for three days.',
        ...next,
      ],
    ] satisfies Whole,
  ]) {
    it(whole[0], () => isWhole(whole));
  }
});
