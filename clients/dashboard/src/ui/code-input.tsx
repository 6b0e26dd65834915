import { useState, type ClipboardEvent, type ComponentProps } from 'react';
import { plainDigits } from '../format/digits.js';
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

/**
 * One field for a mailed code of six digits, in those of any script: whatever is pasted around them is dropped, and
 * phones offer the code.
 */
export function CodeInput({ value, onChange, onComplete, className, ...rest }: CodeInputProps) {
  // What an input method is still putting together is not touched.
  const [unfinished, setUnfinished] = useState<string>();
  const take = (text: string): void => {
    const digits = plainDigits(text).replace(/\D/g, '').slice(0, DIGITS);
    onChange(digits);
    if (digits.length === DIGITS && digits !== value) onComplete?.(digits);
  };
  /** A code that is pasted takes the place of what stands there, and is given even where it is the same again. */
  const paste = (event: ClipboardEvent<HTMLInputElement>): void => {
    const digits = codeIn(event.clipboardData.getData('text'));
    if (digits === undefined) return;
    event.preventDefault();
    onChange(digits);
    onComplete?.(digits);
  };
  return (
    <Input
      {...rest}
      onPaste={paste}
      value={unfinished ?? value}
      inputMode="numeric"
      autoComplete="one-time-code"
      spellCheck={false}
      // Room for a paste with spaces and words around the digits; only the digits are kept.
      maxLength={64}
      onChange={({ target, nativeEvent }) => {
        const isComposing = 'isComposing' in nativeEvent && nativeEvent.isComposing === true;
        setUnfinished(isComposing ? target.value : undefined);
        if (!isComposing) take(target.value);
      }}
      onCompositionEnd={({ currentTarget }) => {
        setUnfinished(undefined);
        take(currentTarget.value);
      }}
      className={classes('font-mono text-lg tracking-[0.35em] tabular', className)}
    />
  );
}

/** The first number of six digits in a text, such as a whole mail; undefined where there is none. */
function codeIn(text: string): string | undefined {
  return /(?<!\d)\d{3}[\s\u2010-\u2015-]?\d{3}(?!\d)/.exec(plainDigits(text))?.[0].replace(/\D/g, '');
}

/** Tells whether a code is whole. */
export function isWholeCode(code: string): boolean {
  return code.length === DIGITS;
}
