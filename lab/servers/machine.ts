import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname } from 'node:path';
import type { DatabaseMachine } from '../../domain/operations/database-size.js';

/**
 * The machine as a database finds it beside the rest of the stack.
 * @param folder where its files are to be; it need not exist yet
 */
export function describeMachine(folder: string): DatabaseMachine {
  const { bavail, bsize } = statfsSync(existingAbove(folder));
  return {
    memoryBytes: memoryWithin(totalmem(), process.constrainedMemory()),
    cores: availableParallelism(),
    freeBytes: bavail * bsize,
    isAlone: false,
  };
}

/**
 * The machine's memory, or the control group's limit where it is lower.
 * @param limit 0 or a number beyond any memory: there is none
 */
export function memoryWithin(total: number, limit: number | undefined): number {
  return limit !== undefined && limit > 0 ? Math.min(total, limit) : total;
}

function existingAbove(folder: string): string {
  return existsSync(folder) ? folder : existingAbove(dirname(folder));
}
