import { recordNotice } from '../../adapters/postgres/operators/operator-notices.js';
import type { UserId } from '../../domain/ids.js';
import { closingWaitsMail } from '../../domain/mails/operators.js';
import type { ActivityDeps } from '../deps.js';

/** Tells operators, once for each such wait of an account, why its closing needs them. */
export async function tellOperators(
  { db }: Pick<ActivityDeps, 'db'>,
  userId: UserId,
  wait: string,
  why: string,
): Promise<void> {
  const cause = { kind: 'closing_waits', userId, wait } as const;
  await recordNotice(db, { cause, message: closingWaitsMail({ userId, why }) });
}
