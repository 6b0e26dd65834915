import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProcess } from '../servers/process-table.js';
import type { StackUrls } from './urls.js';

/** A running stack's record of itself, in `stack.json` of its data folder. */
export interface StackLock {
  readonly pid: number;
  /** Tells the process from a later one with the same pid. */
  readonly stamp: string;
  readonly startedAt: string;
  readonly urls: StackUrls;
}

/** Thrown when another stack runs on the same data folder. */
export class StackRunsError extends Error {
  override readonly name = 'StackRunsError';
}

export interface DataDirLock {
  /** True when the last stack on this folder died without releasing it: its servers may still be ending. */
  readonly afterCrash: boolean;
  /** Releases the folder. */
  release(): void;
}

/**
 * Claims a data folder for this process, so that two stacks never share one database cluster.
 * @throws StackRunsError when a stack runs on it already
 */
export function lockDataDir(dataDir: string, urls: StackUrls): DataDirLock {
  mkdirSync(dataDir, { recursive: true });
  const lock: StackLock = {
    pid: process.pid,
    stamp: findProcess(process.pid)?.stamp ?? '',
    startedAt: new Date().toISOString(),
    urls,
  };
  const file = lockFile(dataDir);
  const afterCrash = existsSync(file);
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, `${JSON.stringify(lock, null, 2)}\n`);
  try {
    claim(whole, file, dataDir);
  } finally {
    rmSync(whole, { force: true });
  }
  return { afterCrash, release: () => rmSync(file, { force: true }) };
}

/** A link is made or fails in one step, and with its whole content, so that no process sees a half-written lock. */
function claim(whole: string, file: string, dataDir: string): void {
  const holder = findStackLock(dataDir);
  if (holder) throw runsAlready(holder);
  removeStale(file);
  try {
    linkSync(whole, file);
  } catch (error) {
    const winner = findStackLock(dataDir);
    throw winner ? runsAlready(winner) : error;
  }
}

/**
 * Removes a dead stack's lock. Of two processes that find it at once, the slower might remove the faster one's lock: it
 * then gives it back.
 */
function removeStale(file: string): void {
  const aside = `${file}.${process.pid}.stale`;
  if (!existsSync(file)) return;
  renameSync(file, aside);
  const taken = readLock(aside);
  if (taken && isAlive(taken)) linkSync(aside, file);
  rmSync(aside, { force: true });
}

function runsAlready(lock: StackLock): StackRunsError {
  return new StackRunsError(
    `A stack runs already on this data folder: process ${lock.pid}, since ${lock.startedAt}, API at ${lock.urls.api}. ` +
      `Use it, or stop it (Ctrl-C in its terminal, or "kill ${lock.pid}"), or set LAB_DATA_DIR and other ports for a second one.`,
  );
}

/** @returns the lock of the stack whose process is alive, if any */
export function findStackLock(dataDir: string): StackLock | undefined {
  const lock = readLock(lockFile(dataDir));
  return lock && isAlive(lock) ? lock : undefined;
}

function isAlive(lock: StackLock): boolean {
  return findProcess(lock.pid)?.stamp === lock.stamp;
}

function readLock(file: string): StackLock | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StackLock;
  } catch {
    return undefined;
  }
}

function lockFile(dataDir: string): string {
  return join(dataDir, 'stack.json');
}
