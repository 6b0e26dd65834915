/** One privilege of one role. */
export interface Grant {
  readonly relation: string;
  readonly role: string;
  readonly privilege: string;
  /** null: on the whole relation. */
  readonly column: string | null;
  /** The column's position, for the order. */
  readonly position: number;
}

const order = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN'];

/**
 * The privileges of one role on one relation, in the words of a grant: `SELECT, INSERT (user_id), UPDATE (created_at)`.
 */
export function privilegesOf(grants: readonly Grant[]): string {
  return order
    .flatMap((privilege) => {
      const same = grants.filter((grant) => grant.privilege === privilege);
      const columns = same
        .flatMap(({ column, position }) => (column === null ? [] : [{ column, position }]))
        .sort((one, other) => one.position - other.position)
        .map(({ column }) => column);
      return [
        ...(same.some(({ column }) => column === null) ? [privilege] : []),
        ...(columns.length > 0 ? [`${privilege} (${columns.join(', ')})`] : []),
      ];
    })
    .join(', ');
}
