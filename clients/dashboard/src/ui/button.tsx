import type { ComponentProps, MouseEvent } from 'react';
import { classes } from './classes.js';

export type ButtonLook = 'primary' | 'secondary' | 'quiet' | 'danger';
export type ButtonSize = 'medium' | 'small';

const looks: Readonly<Record<ButtonLook, string>> = {
  primary: 'bg-accent text-accent-ink hover:bg-accent-strong border-transparent',
  secondary: 'bg-surface text-ink border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-bad text-bad-ink border-transparent hover:opacity-90',
};

/** The classes of a button, for links that look like one. */
export function buttonClasses(look: ButtonLook = 'secondary', size: ButtonSize = 'medium'): string {
  return classes(
    'inline-flex items-center justify-center gap-2 rounded-md border font-medium whitespace-nowrap select-none transition-colors',
    'disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50',
    size === 'medium'
      ? 'min-h-10 px-3.5 text-sm pointer-coarse:min-h-11'
      : 'min-h-8 px-2.5 text-[13px] pointer-coarse:min-h-10',
    looks[look],
  );
}

interface PressedProps extends ComponentProps<'button'> {
  /** Given for what sends something: true while that is under way, when it can't be pressed, and says so. */
  readonly isBusy?: boolean | undefined;
}

interface ButtonProps extends PressedProps {
  readonly look?: ButtonLook;
  readonly size?: ButtonSize;
}

export function Button({ look, size, className, children, ...rest }: ButtonProps) {
  return (
    <Pressed {...rest} className={classes(buttonClasses(look, size), className)}>
      {rest.isBusy === true && <Spinner />}
      {children}
    </Pressed>
  );
}

/**
 * A button that keeps the focus while it can't be pressed: the browser takes it from one that is disabled, and whoever
 * goes by the keyboard would begin at the top again.
 */
function Pressed({ isBusy, disabled = false, onClick, ...rest }: PressedProps) {
  const isOff = disabled || isBusy === true;
  const press = (event: MouseEvent<HTMLButtonElement>): void => {
    // The second click of a double click is not meant as another request.
    if (isOff || (isBusy !== undefined && event.detail > 1)) event.preventDefault();
    else onClick?.(event);
  };
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy === true || undefined}
      onClick={press}
    />
  );
}

/** A button of an icon alone: `label` is what it says. */
export function IconButton({
  label,
  className,
  children,
  ...rest
}: PressedProps & { readonly label: string }) {
  return (
    <Pressed
      {...rest}
      aria-label={label}
      title={label}
      className={classes(
        'inline-flex size-9 items-center justify-center rounded-md text-soft hover:bg-sunken hover:text-ink aria-disabled:opacity-50 pointer-coarse:size-11',
        className,
      )}
    >
      {children}
    </Pressed>
  );
}

/** A turning circle, which says nothing by itself. */
export function Spinner({ className = 'size-4' }: { readonly className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classes(
        'inline-block animate-spin rounded-full border-2 border-current border-r-transparent',
        className,
      )}
    />
  );
}
