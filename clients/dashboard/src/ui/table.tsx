import type { ComponentProps } from 'react';
import { classes } from './classes.js';

/** A table that scrolls inside its frame where the screen is narrow; `label` names it to screen readers. */
export function Table({ label, className, ...rest }: ComponentProps<'table'> & { readonly label: string }) {
  return (
    // The frame scrolls, so it must be reached by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="overflow-x-auto" role="group" aria-label={label} tabIndex={0}>
      <table {...rest} className={classes('w-full border-collapse text-left', className)} />
    </div>
  );
}

export function Th({ className, ...rest }: ComponentProps<'th'>) {
  return (
    <th
      scope="col"
      {...rest}
      className={classes(
        'border-b border-line px-4 py-2 text-[13px] font-medium whitespace-nowrap text-muted',
        className,
      )}
    />
  );
}

export function Td({ className, ...rest }: ComponentProps<'td'>) {
  return <td {...rest} className={classes('border-b border-line px-4 py-2.5 align-middle', className)} />;
}
