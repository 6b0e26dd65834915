import { useId } from 'react';
import { classes } from './classes.js';

interface SegmentedProps<Value extends string> {
  /** What is chosen, for screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
  /** Keeps what is chosen, such as while it is being done. */
  readonly isDisabled?: boolean;
  readonly className?: string;
}

/** A choice of a few, all in sight. */
export function Segmented<Value extends string>(props: SegmentedProps<Value>) {
  const { label, value, options, onChange, isDisabled = false, className } = props;
  const name = useId();
  return (
    <fieldset
      disabled={isDisabled}
      className={classes('flex rounded-md border border-line bg-sunken p-0.5', className)}
    >
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className="flex min-h-8 flex-1 cursor-pointer items-center justify-center rounded-[5px] border border-transparent px-3 text-center text-[13px] font-medium text-soft has-checked:border-line has-checked:bg-surface has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-(--focus) has-disabled:cursor-not-allowed has-disabled:opacity-60 pointer-coarse:min-h-10"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="sr-only"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
