import type { WhyOff } from '../events/events.js';
import type { NoticeFacts } from '../notices/notices.js';
import { fact, type Part } from './parts.js';

type Off = NoticeFacts['webhook_switched_off'];

const reasons: Readonly<Record<WhyOff, string>> = {
  gone: 'It answered 410 Gone.',
  no_success: 'It has accepted nothing for three days.',
  challenge_unanswered: 'It has not answered its challenge for three days.',
};

/** What a mail says of endpoints that were switched off. @param list shows them, the first of many */
export function webhooksSwitchedOff(
  all: readonly Off[],
  list: (show: (one: Off) => Part) => readonly Part[],
): { readonly subject: string; readonly parts: readonly Part[] } {
  const isOne = all.length === 1;
  return {
    subject: isOne ? 'Your webhook was switched off' : `${all.length} of your webhooks were switched off`,
    parts: [
      `We no longer send anything to ${isOne ? 'it' : 'them'}.`,
      '',
      ...list(({ url, why }) => fact(url, reasons[why])),
      '',
      'When it works again, set its address (PATCH /v1/webhooks/:id with its url), and we send it a new challenge. To get',
      'the events of the last 30 days that it missed, call POST /v1/webhooks/:id/redeliver.',
    ],
  };
}
