import { answersOk } from '../servers/program.js';
import { findStackLock } from './lock.js';
import type { StackUrls } from './urls.js';

/** A stack that another process keeps running. */
export interface RunningStack {
  readonly pid: number;
  readonly startedAt: string;
  readonly urls: StackUrls;
  /** True when its API answers /readyz with 200. False while it starts, stops, or has lost a part. */
  readonly ready: boolean;
}

/**
 * Looks for the stack that runs on a data folder.
 * @param dataDir absolute, as in the settings
 * @returns undefined when none does
 */
export async function findRunningStack(dataDir: string): Promise<RunningStack | undefined> {
  const lock = findStackLock(dataDir);
  if (!lock) return undefined;
  const { pid, startedAt, urls } = lock;
  return { pid, startedAt, urls, ready: await answersOk(`${urls.api}/readyz`) };
}
