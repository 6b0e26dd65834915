import type { NewRental, Rental } from '@gpu-rental/client';
import type { Command } from 'commander';
import { label } from '../../command.js';

/** What renters say about their machines in their own words, as options. */
export interface WordOptions {
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly notes?: string;
}

/** Adds them to a command. */
export function addWords(command: Command): Command {
  return command
    .option('--name <name>', 'a name for it')
    .option('--label <key=value>', 'label it for your statement; repeatable', label)
    .option('--notes <text>', 'notes for yourself, at most 500 characters');
}

/** The same in a request. */
export function wordsOf({
  name,
  label: labels,
  notes,
}: WordOptions): Pick<NewRental, 'name' | 'labels' | 'notes'> {
  return {
    ...(name !== undefined && { name }),
    ...(labels !== undefined && { labels }),
    ...(notes !== undefined && { notes }),
  };
}

/** What a machine is shown with, besides its name. */
export function wordFacts(rental: Rental): (readonly [string, string | null])[] {
  return [['Labels', labelWords(rental)], ...linesOf('Notes', rental.notes)];
}

/** A text of several lines as facts: the first one has the name. */
export function linesOf(name: string, text: string | null): (readonly [string, string])[] {
  const lines = text?.split(/\r?\n/) ?? [];
  return lines.map((line, index) => [index === 0 ? name : '', line] as const);
}

/** Labels as they are written; null where there are none. */
export function labelWords({ labels }: Pick<Rental, 'labels'>): string | null {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? null : pairs.join(', ');
}
