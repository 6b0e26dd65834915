import type { WhyOff } from '../events/events.js';
import { messageOf, type Message } from './message.js';

const reasons: Readonly<Record<WhyOff, string>> = {
  gone: 'It answered 410 Gone.',
  no_success: 'It has accepted nothing for three days.',
  challenge_unanswered: 'It has not answered its challenge for three days.',
};

/** An endpoint was switched off. */
export function webhookSwitchedOffMail({
  url,
  why,
}: {
  readonly url: string;
  readonly why: WhyOff;
}): Message {
  return messageOf('Your webhook was switched off', [
    `We no longer send anything to ${url}. ${reasons[why]}`,
    '',
    'When it works again, set its address (PATCH /v1/webhooks/:id with its url), and we send it a new challenge. To get',
    'the events of the last 30 days that it missed, call POST /v1/webhooks/:id/redeliver.',
  ]);
}
