import type { ComponentProps } from 'react';
import { currencySign } from '../format/money.js';
import { classes } from './classes.js';
import { Input } from './field.js';

/** A field for an amount of dollars, as people type them: `parseMoney` reads it. */
export function MoneyInput({ className, ...rest }: Omit<ComponentProps<'input'>, 'type'>) {
  return (
    <span className="relative block">
      <span aria-hidden="true" className="absolute inset-y-0 left-3 flex items-center text-muted">
        {currencySign}
      </span>
      <Input
        inputMode="decimal"
        autoComplete="off"
        spellCheck={false}
        maxLength={20}
        {...rest}
        className={classes('pl-7 tabular', className)}
      />
    </span>
  );
}
