import type { UserId } from '../../../domain/ids.js';
import type { ToldKind } from '../../../domain/notices/kinds.js';

/** Something that a user is told by mail without having asked (decision 103, "Notices by mail"). */
export interface UserNoticeRow {
  id: number;
  user_id: UserId;
  kind: ToldKind;
  cause: string;
  /** As domain/notices/notices.ts says of its kind. */
  facts: Record<string, unknown>;
  noted_at: Date;
  told_at: Date | null;
  /** False where its user had switched the kind off; null until it is told. */
  is_mailed: boolean | null;
}

/** A kind of notices that a user has switched off. */
export interface NoticeSettingRow {
  user_id: UserId;
  kind: ToldKind;
  switched_off_at: Date;
}
