import { useId, type ComponentProps, type ReactNode } from 'react';
import { classes } from './classes.js';

const box =
  'w-full rounded-md border border-line-strong bg-surface px-3 text-ink placeholder:text-muted aria-invalid:border-bad disabled:bg-sunken disabled:text-muted';

/** The ids by which a control is tied to its label, hint and error. */
export interface ControlIds {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with what was typed; the service's own words where there are any. */
  readonly error?: string | undefined;
  readonly className?: string;
  readonly children: (ids: ControlIds) => ReactNode;
}

/** A label above a control, a hint below, and the error in its place. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const isWrong = error !== undefined;
  const described = isWrong ? `${id}-error` : hint === undefined ? undefined : `${id}-note`;
  return (
    <div className={classes('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className="text-[13px] font-medium text-soft">
        {label}
      </label>
      {children({ id, 'aria-describedby': described, 'aria-invalid': isWrong || undefined })}
      {hint !== undefined && !isWrong && (
        <p id={`${id}-note`} className="text-[13px] text-muted">
          {hint}
        </p>
      )}
      {/* Always there, since screen readers speak only what comes into a place that they know. */}
      <p id={`${id}-error`} aria-live="polite" className="text-[13px] text-bad empty:absolute">
        {error}
      </p>
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...rest} className={classes(box, 'h-10 pointer-coarse:h-11', className)} />;
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...rest} className={classes(box, 'py-2 font-mono text-[13px]', className)} />;
}

/** The platform's own select: right on phones, by keyboard and for screen readers. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <select {...rest} className={classes(box, 'h-10 pr-8 pointer-coarse:h-11', className)}>
      {children}
    </select>
  );
}

interface ChoiceProps extends Omit<ComponentProps<'input'>, 'type'> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

/** A box to tick, with its label beside it. */
export function Checkbox(props: ChoiceProps) {
  return <Choice type="checkbox" {...props} />;
}

/** One of several to choose, with its label beside it; those of one `name` belong together. */
export function Radio(props: ChoiceProps) {
  return <Choice type="radio" {...props} />;
}

function Choice({
  type,
  label,
  hint,
  className,
  ...rest
}: ChoiceProps & { readonly type: 'checkbox' | 'radio' }) {
  const id = useId();
  return (
    <div className={classes('flex gap-2.5', className)}>
      <input
        id={id}
        type={type}
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        {...rest}
        className="mt-0.5 size-4.5 shrink-0 accent-(--accent)"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-note`} className="text-[13px] text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
