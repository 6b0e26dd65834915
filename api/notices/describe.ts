import { unsubscribePath } from '../../adapters/postgres/notices/unsubscribe-links.js';
import { allNoticeKinds } from '../../domain/notices/kinds.js';
import { listOf, named, object, oneOf, text } from '../http/openapi/json-schema.js';
import { operation, type DescribedAnswer, type Operation } from '../http/openapi/operation.js';
import { noticesSchema, presentNotices } from './shapes.js';

const tag = 'Account';

const notice = named(
  'Notice',
  object({
    kind: named('NoticeKind', oneOf(allNoticeKinds)),
    on: { type: 'boolean', description: 'Whether it is mailed.' },
    canSwitchOff: {
      type: 'boolean',
      description: 'False for what is about money, or about who may enter the account: it is always mailed.',
    },
    description: text,
  }),
);
const settings = named('NoticeSettings', object({ notices: listOf(notice) }));

const token = {
  name: 'token',
  in: 'query',
  description: 'As it stands in the mail; it holds for 180 days.',
  schema: { type: 'string' },
  example: 'usr_01KADJ5Q2T8C5S5W3Z8Q4Y6N7M.rental_lost.1793000000.x',
} as const;

const page = {
  type: 'text/html',
  schema: { type: 'string', pattern: '^<!doctype html>' },
  examples: ['<!doctype html>'],
} as const;
const deadLinks: readonly DescribedAnswer[] = [
  { ...page, status: 404, description: 'A page: the link is not ours.' },
  { ...page, status: 410, description: 'A page: the link has expired.' },
];

export const showNotices = operation({
  method: 'get',
  path: '/v1/notices',
  scope: 'read',
  name: 'showNotices',
  tag,
  summary: 'Emails that you get without asking',
  answers: [
    { description: 'Every kind.', schema: settings, examples: [presentNotices(new Set(['rental_lost']))] },
  ],
});

export const saveNotices = operation({
  method: 'put',
  path: '/v1/notices',
  name: 'saveNotices',
  tag,
  summary: 'Turns kinds of these emails on or off',
  description:
    'A kind that you leave out stays as it is. A kind that can’t be turned off may be sent as true.',
  body: { schema: noticesSchema, examples: [{ kinds: { rental_lost: false, rental_auto_stop: true } }] },
  answers: [
    {
      description: 'Every kind, as it is now.',
      schema: settings,
      examples: [presentNotices(new Set(['rental_lost']))],
    },
  ],
});

export const askBeforeUnsubscribing = operation({
  method: 'get',
  path: unsubscribePath,
  name: 'askBeforeUnsubscribing',
  tag,
  summary: 'The page behind the link in an email: it asks, and changes nothing',
  isPublic: true,
  parameters: [token],
  answers: [{ ...page, description: 'The page.' }, ...deadLinks],
});

export const unsubscribe = operation({
  method: 'post',
  path: unsubscribePath,
  name: 'unsubscribe',
  tag,
  summary: 'Turns off the emails of a link’s kind, without signing in',
  description: 'One click, as in RFC 8058. The body is ignored, and repeating it changes nothing.',
  isPublic: true,
  parameters: [token],
  answers: [{ ...page, description: 'A page: they are off.' }, ...deadLinks],
});

export const noticeOperations: readonly Operation[] = [
  showNotices,
  saveNotices,
  askBeforeUnsubscribing,
  unsubscribe,
];
