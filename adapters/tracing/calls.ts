import type { Logger } from 'pino';
import type { LogPart } from '../../domain/operations/log-parts.js';
import { originNow } from './origin.js';
import { spanned, type Attributes, type Note } from './spans.js';

/** What a process calls, as the log names it. */
export type Callee = Extract<LogPart, 'upstream' | 'processor' | 'sql'>;

type Work<T> = (note: Note) => Promise<T>;

export interface Call {
  readonly callee: Callee;
  readonly name: string;
  /** Names, words and numbers, as a span's: never a secret, a path with ids or a statement's parameters. */
  readonly attributes: Attributes;
}

const installed: { logs?: Readonly<Record<Callee, Logger>> | undefined } = {};

/** Sets where this process's calls are logged, at level debug; undefined: nowhere. */
export function logCalls(logOf: ((callee: Callee) => Logger) | undefined): void {
  installed.logs = logOf && { upstream: logOf('upstream'), processor: logOf('processor'), sql: logOf('sql') };
}

/**
 * Makes a call: a span of the piece of work that it belongs to, if there is one, and a line of the log where that is as
 * detailed.
 */
export function called<T>(call: Call, work: Work<T>): Promise<T> {
  const log = installed.logs?.[call.callee];
  const told = log?.isLevelEnabled('debug') === true ? logged(log, call, work) : work;
  const { name, attributes } = call;
  return spanned(name, { kind: 'client', onlyWithin: true, attributes }, told);
}

function logged<T>(log: Logger, { name, attributes }: Call, work: Work<T>): Work<T> {
  return async (note) => {
    const startMs = performance.now();
    const noted: Record<string, unknown> = { ...attributes };
    const tell = () => {
      const requestId = originNow()?.requestId;
      const elapsedMs = Math.round(performance.now() - startMs);
      log.debug({ ...noted, elapsedMs, ...(requestId !== undefined && { requestId }) }, name);
    };
    try {
      return await work((more) => {
        Object.assign(noted, more);
        note(more);
      });
    } catch (error) {
      // Its kind alone: messages hold what a row or an answer held.
      noted['fault'] = error instanceof Error ? error.name : 'error';
      throw error;
    } finally {
      tell();
    }
  };
}
