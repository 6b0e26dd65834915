import type { Evidence } from './evidence.js';

/**
 * The users who were erased as their accounts closed (decision 183): bookkeeping stays under their numbers, and nothing
 * is left of what they were told.
 */
export class Erased {
  private constructor(
    private readonly ids: ReadonlySet<string>,
    private readonly emails: ReadonlySet<string>,
  ) {}

  static async read({ ask, told: said }: Evidence): Promise<Erased> {
    const rows = await ask<{ id: string }>(
      'select user_id as id from account_closings where erased_at is not null',
    );
    const ids = new Set(rows.map(({ id }) => id));
    const gone = said.closings.filter(({ userId }) => ids.has(userId));
    return new Erased(ids, new Set(gone.map(({ email }) => email)));
  }

  /** What is of others. */
  without<T extends { readonly user_id: string | null }>(rows: readonly T[]): T[] {
    return rows.filter(({ user_id: id }) => !this.ids.has(id ?? ''));
  }

  /** Whether a text names one of them. */
  isIn(text: string): boolean {
    return [...this.ids, ...this.emails].some((word) => text.includes(word));
  }

  hasEmail(email: string): boolean {
    return this.emails.has(email);
  }
}
