import type { ComponentProps } from 'react';
import { classes } from './classes.js';
import { Input } from './field.js';

const DIGITS = 6;

interface CodeInputProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  /** The digits so far. */
  readonly value: string;
  readonly onChange: (digits: string) => void;
  /** Called once all digits stand there, so that nobody must press anything after pasting. */
  readonly onComplete?: (code: string) => void;
}

/** One field for a mailed code of six digits: whatever is pasted around them is dropped, and phones offer the code. */
export function CodeInput({ value, onChange, onComplete, className, ...rest }: CodeInputProps) {
  return (
    <Input
      {...rest}
      value={value}
      inputMode="numeric"
      autoComplete="one-time-code"
      spellCheck={false}
      // Room for a paste with spaces and words around the digits; only the digits are kept.
      maxLength={64}
      onChange={({ target }) => {
        const digits = target.value.replace(/\D/g, '').slice(0, DIGITS);
        onChange(digits);
        if (digits.length === DIGITS && digits !== value) onComplete?.(digits);
      }}
      className={classes('font-mono text-lg tracking-[0.35em] tabular', className)}
    />
  );
}

/** Tells whether a code is whole. */
export function isWholeCode(code: string): boolean {
  return code.length === DIGITS;
}
