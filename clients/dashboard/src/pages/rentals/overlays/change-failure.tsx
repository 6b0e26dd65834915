import { isApiError } from '@gpu-rental/client';
import { idleTexts } from '../../../texts/idle.js';
import { limitFormTexts } from '../../../texts/limit-form.js';
import { Callout } from '../../../ui/badge.js';
import { ErrorNote } from '../../../ui/states.js';

/** Why a change was not made; nothing without an error, and where the fields say it. */
export function ChangeFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  if (isApiError(error, 'rental_ending') || isApiError(error, 'already_stopped')) {
    return <Callout role="alert" tone="warn" title={limitFormTexts.ended} />;
  }
  if (isApiError(error, 'idle_guard_unsupported')) {
    return (
      <Callout role="alert" tone="warn" title={idleTexts.unsupported}>
        {idleTexts.unsupportedText}
      </Callout>
    );
  }
  return <ErrorNote error={error} />;
}
