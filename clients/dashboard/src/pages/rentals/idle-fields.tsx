import { isApiError } from '@gpu-rental/client';
import type { ComponentProps } from 'react';
import { fieldError } from '../../data/errors.js';
import { idleTexts as texts } from '../../texts/idle.js';
import { Checkbox, Field, Input } from '../../ui/field.js';
import { idleMinutesOf } from './idle-guard.js';

interface IdleFieldsProps {
  /** What holds the typed minutes. */
  readonly input: Pick<ComponentProps<'input'>, 'onChange' | 'onBlur'> & { readonly value: string };
  readonly ignoresSessions: boolean;
  readonly onIgnoreSessions: (ignores: boolean) => void;
  /** What the service said of it. */
  readonly error: unknown;
}

/** Whether a machine stops when nobody uses it, and after how long. */
export function IdleFields({ input, ignoresSessions, onIgnoreSessions, error }: IdleFieldsProps) {
  const minutes = idleMinutesOf(input.value);
  const minutesFault = faultOf(error, 'stopWhenIdleMinutes', texts.minutesFault);
  const sessionsFault = faultOf(error, 'idleIgnores', texts.sessionsFault);
  return (
    <div className="flex flex-col gap-2.5">
      <Field label={texts.field} hint={texts.hint} error={minutes === undefined ? texts.error : minutesFault}>
        {(ids) => (
          <Input {...ids} {...input} inputMode="numeric" placeholder={texts.none} autoComplete="off" />
        )}
      </Field>
      {typeof minutes === 'number' && (
        <Checkbox
          label={texts.sessions}
          hint={
            sessionsFault === undefined || ignoresSessions ? (
              texts.sessionsHint
            ) : (
              <span className="text-bad">{sessionsFault}</span>
            )
          }
          checked={ignoresSessions}
          onChange={({ target }) => onIgnoreSessions(target.checked)}
        />
      )}
    </div>
  );
}

type GuardField = 'stopWhenIdleMinutes' | 'idleIgnores' | 'telemetry';

/** What the service said of a field: that it is not right, or that no provider with such a machine can do it. */
export function faultOf(
  error: unknown,
  field: GuardField,
  say: (provider: string) => string,
): string | undefined {
  if (!isApiError(error, 'idle_guard_unsupported') && !isApiError(error, 'software_unsupported')) {
    return fieldError(error, field);
  }
  // A refusal made on demand has no details.
  const details = error.details as Partial<typeof error.details> | undefined;
  const of = (details?.misfits ?? [])
    .filter((misfit) => misfit.field === field)
    .map(({ providerCode }) => providerCode);
  return of.length === 0 ? undefined : say([...new Set(of)].join(', '));
}
