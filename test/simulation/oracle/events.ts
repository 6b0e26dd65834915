import type { Evidence } from './evidence.js';

/** N5: each user's events are numbered without a gap, from 1. */
export async function judgeEvents({ ask }: Evidence): Promise<string[]> {
  const gaps = await ask<{ user_id: string; count: string; top: string }>(
    `select user_id, count(*), max(seq) as top from events group by user_id having count(*) <> max(seq) or min(seq) <> 1`,
  );
  return gaps.map(({ user_id, count, top }) => `the events of ${user_id}: ${count}, numbered up to ${top}`);
}
