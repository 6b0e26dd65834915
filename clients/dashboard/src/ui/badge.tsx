import type { ReactNode } from 'react';
import { classes } from './classes.js';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info';

const tones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-soft',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
};

/** A state in a word. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}

const frames: Readonly<Record<Tone, string>> = {
  neutral: 'border-line bg-surface text-ink',
  good: 'border-good/40 bg-good-soft text-good',
  warn: 'border-warn/40 bg-warn-soft text-warn',
  bad: 'border-bad/40 bg-bad-soft text-bad',
  info: 'border-info/40 bg-info-soft text-info',
};

interface CalloutProps {
  readonly tone: Tone;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** `alert` interrupts a screen reader: for what was just asked for and failed. */
  readonly role?: 'alert' | 'status';
}

/** What somebody must know before they go on, with what to do about it. */
export function Callout({ tone, title, children, actions, role }: CalloutProps) {
  return (
    <div role={role} className={classes('rounded-lg border px-4 py-3', frames[tone])}>
      <p className="font-semibold">{title}</p>
      {children !== undefined && <div className="mt-0.5 text-ink">{children}</div>}
      {actions !== undefined && <div className="mt-2.5 flex flex-wrap gap-2">{actions}</div>}
    </div>
  );
}
