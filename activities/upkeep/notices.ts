import { keyOfDue, listDueNotices, mailNotices } from '../../adapters/postgres/notices/notice-mails.js';
import { noticeLimits } from '../../domain/notices/limits.js';
import type { ActivityDeps } from '../deps.js';
import { eachItem } from '../each-item.js';

/**
 * Mails what users were not told yet (decision 103, "Notices by mail"). One whose mail fails keeps no other from theirs.
 * @param tell hears of each mail
 */
export async function tellNotices(
  deps: ActivityDeps,
  tell: (detail: { readonly item: string }) => void = () => undefined,
): Promise<void> {
  const { noticeQuietMs: quietMs = noticeLimits.quietMs, publicUrl } = deps.settings;
  const items = await listDueNotices(deps.db, {
    quietMs,
    longestMs: Math.max(quietMs, noticeLimits.longestMs),
  });
  await eachItem(deps, { duty: 'notice', items, keyOf: keyOfDue, tell }, (due) =>
    mailNotices(deps.db, due, publicUrl),
  );
}
