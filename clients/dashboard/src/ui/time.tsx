import { date, fullTime, shortTime } from '../format/time.js';

interface TimeProps {
  /** ISO 8601. */
  readonly at: string;
  /** With seconds, for where it is exact. */
  readonly isFull?: boolean;
  /** The day alone, with its year, for what lies far away. */
  readonly isDay?: boolean;
}

/** An instant; its exact time shows on hover. */
export function Time({ at, isFull = false, isDay = false }: TimeProps) {
  return (
    <time dateTime={at} title={fullTime(at)} className="tabular whitespace-nowrap">
      {isDay ? date(at) : isFull ? fullTime(at) : shortTime(at)}
    </time>
  );
}
