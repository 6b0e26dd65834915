import {
  allNoticeKinds,
  isOptional,
  noticeKinds,
  type NoticeKind,
  type OptionalKind,
} from '../../domain/notices/kinds.js';
import { joi, fields, needed, type Read } from '../http/fields.js';

/** The kinds to switch on or off; a kind that is left out stays as it is. */
export const noticesSchema = fields({
  kinds: needed(
    joi
      .object<Readonly<Partial<Record<NoticeKind, boolean>>>>(
        Object.fromEntries(
          allNoticeKinds.map((kind) => [kind, isOptional(kind) ? joi.boolean() : alwaysOn()]),
        ),
      )
      .min(1),
  ),
});

export type NoticeChanges = Read<typeof noticesSchema>;

/** What is about money, or about who may enter the account, may be sent as it is read: on. */
function alwaysOn() {
  return joi.boolean().valid(true).messages({
    'any.only': '{{#label}} can’t be turned off: it is about your money or access to your account',
  });
}

/** The changes of a request to what can be changed: the others are on, and stay so. */
export function optionalOf({ kinds }: NoticeChanges): Partial<Record<OptionalKind, boolean>> {
  return Object.fromEntries(Object.entries(kinds).filter(([kind]) => isOptional(kind as NoticeKind)));
}

/** All kinds on read. */
export function presentNotices(off: ReadonlySet<NoticeKind>) {
  return {
    notices: allNoticeKinds.map((kind) => ({
      kind,
      on: !off.has(kind),
      canSwitchOff: isOptional(kind),
      description: noticeKinds[kind].description,
    })),
  };
}
