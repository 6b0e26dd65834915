import { titleOf } from './dump.js';

/**
 * Compares two dumps of a schema, for whoever reads a failed test.
 * @returns the title of each part that differs, with its removed lines (-) and added lines (+); empty without
 * differences
 */
export function tellDifferences(kept: string, found: string): string[] {
  const before = cut(kept);
  const now = cut(found);
  const titles = [...new Set([...before.keys(), ...now.keys()])];
  const told = titles.flatMap((title) => tellPart(title, before.get(title) ?? [], now.get(title) ?? []));
  return told.length === 0 && kept !== found ? ['The parts are the same, in another order.'] : told;
}

function tellPart(title: string, kept: readonly string[], found: readonly string[]): string[] {
  if (kept.join('\n') === found.join('\n')) return [];
  const changes = [
    ...without(kept, found).map((line) => `  - ${line}`),
    ...without(found, kept).map((line) => `  + ${line}`),
  ];
  return [`${title}:`, ...(changes.length > 0 ? changes : ['  the same lines, in another order'])];
}

/** Returns the lines that are not among the others. A comma at the end makes no difference: a last column has none. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const bare = (line: string) => line.replace(/,$/, '');
  const left = new Map<string, number>();
  for (const line of others) left.set(bare(line), (left.get(bare(line)) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(bare(line)) ?? 0;
    left.set(bare(line), count - 1);
    return count <= 0;
  });
}

/** Splits a dump into its parts, by title. */
function cut(dump: string): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  let title = 'the head';
  for (const line of dump.split('\n')) {
    title = titleOf.exec(line)?.[1] ?? title;
    parts.set(title, [...(parts.get(title) ?? []), line]);
  }
  return parts;
}
