import { useId, type ReactNode } from 'react';
import { classes } from './classes.js';

interface CardProps {
  /** Without one the card is no landmark of its own. */
  readonly title?: string;
  /** What stands at the right of the title. */
  readonly aside?: ReactNode;
  readonly className?: string;
  /** Tables and lists reach the card's edges. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

/** A framed part of a page. */
export function Card({ title, aside, className, isFlush = false, children }: CardProps) {
  const id = useId();
  return (
    <section
      aria-labelledby={title === undefined ? undefined : id}
      className={classes('min-w-0 rounded-lg border border-line bg-surface', className)}
    >
      {title !== undefined && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-b border-line px-4 py-2">
          <h2 id={id} className="text-sm font-semibold">
            {title}
          </h2>
          {aside}
        </div>
      )}
      <div className={isFlush ? undefined : 'p-4'}>{children}</div>
    </section>
  );
}

/** A number that matters, with its name above and a note below. */
export function Stat({
  label,
  value,
  note,
  className,
}: {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly className?: string;
}) {
  return (
    <div className={classes('min-w-0', className)}>
      <dt className="text-[13px] text-muted">{label}</dt>
      <dd className="mt-0.5 text-xl font-semibold tabular">{value}</dd>
      {note !== undefined && <dd className="text-[13px] text-muted">{note}</dd>}
    </div>
  );
}
