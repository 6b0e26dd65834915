import { writePrivately } from '../config/files.js';
import type { Root } from './parse.js';
import { readRoots, textOf } from './roots.js';

/** Reads the roots that were kept; none where there is no such file. @throws Malformed or BrokenRoots */
export async function readKept(file: string, signal: AbortSignal): Promise<Root[]> {
  try {
    return await readRoots(file, signal);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Adds roots to those that were kept, in the order of their numbers.
 * @param more none of them contradicts another one, nor one that was kept
 */
export function keepRoots(file: string, kept: readonly Root[], more: readonly Root[]): void {
  const all = new Map([...more, ...kept].map((root) => [root.number, root]));
  if (all.size === kept.length) return;
  const inOrder = [...all.values()].toSorted((a, b) => a.number - b.number);
  writePrivately(file, inOrder.map(textOf).join(''));
}
