import type { ComponentProps } from 'react';
import { classes } from './classes.js';

interface SwitchProps extends Omit<ComponentProps<'button'>, 'onChange' | 'children'> {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

/** On or off, at once. Give it an accessible name by `aria-label` or `aria-labelledby`. */
export function Switch({ isOn, onChange, className, ...rest }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      {...rest}
      aria-checked={isOn}
      // A double click is one press.
      onClick={({ detail }) => detail < 2 && onChange(!isOn)}
      className={classes(
        'relative inline-flex h-6 w-10 shrink-0 items-center rounded-full border transition-colors after:absolute after:-inset-2.5',
        isOn ? 'border-transparent bg-accent' : 'border-line-strong bg-sunken',
        className,
      )}
    >
      <span
        aria-hidden="true"
        className={classes(
          'size-4.5 rounded-full transition-transform',
          isOn ? 'translate-x-4.5 bg-accent-ink' : 'translate-x-0.75 bg-muted',
        )}
      />
    </button>
  );
}
