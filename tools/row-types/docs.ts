/** What the SQL of the steps says of tables, views and columns, by `table` and `table.column`. */
export type Docs = ReadonlyMap<string, string>;

const comment = /^\s*-- ?(.*)$/;
const made = /^create (?:table|(?:or replace )?view) (\w+)\b/i;
const added = /^alter table (\w+) add column (\w+)/i;
const column = /^ {2}(?!constraint|primary|unique|check|foreign)(\w+) /i;

/** Reads the comment lines right above a table, a view or a column; later steps stand over earlier ones. */
export function readDocs(steps: readonly string[]): Docs {
  const docs = new Map<string, string>();
  for (const step of steps) {
    let above: string[] = [];
    let table = '';
    for (const line of step.split('\n')) {
      const text = comment.exec(line)?.[1];
      if (text !== undefined) {
        above.push(text);
        continue;
      }
      table = made.exec(line)?.[1] ?? table;
      const subject = subjectOf(line, table);
      if (subject !== undefined && above.length > 0) docs.set(subject, above.join(' '));
      above = [];
      if (line.endsWith(';')) table = '';
    }
  }
  return docs;
}

/** What a line declares. @param table whose columns stand here; empty for none's */
function subjectOf(line: string, table: string): string | undefined {
  if (made.test(line)) return table;
  const [, changed, name] = added.exec(line) ?? [];
  if (changed !== undefined) return `${changed}.${name ?? ''}`;
  const inside = table === '' ? undefined : column.exec(line)?.[1];
  return inside === undefined ? undefined : `${table}.${inside}`;
}
