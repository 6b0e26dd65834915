import type { NewRental, Rental } from '@gpu-rental/client';
import type { Command } from 'commander';
import { label } from '../../command.js';

/** What renters say about their machines in their own words, as options. */
export interface WordOptions {
  readonly name?: string;
  readonly label?: Readonly<Record<string, string>>;
}

/** Adds them to a command. */
export function addWords(command: Command): Command {
  return command
    .option('--name <name>', 'a name for it')
    .option('--label <key=value>', 'label it for your statement; repeatable', label);
}

/** The same in a request. */
export function wordsOf({ name, label: labels }: WordOptions): Pick<NewRental, 'name' | 'labels'> {
  return { ...(name !== undefined && { name }), ...(labels !== undefined && { labels }) };
}

/** What a machine is shown with, besides its name. */
export function wordFacts({ labels }: Rental): (readonly [string, string | null])[] {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [['Labels', pairs.length === 0 ? null : pairs.join(', ')]];
}
