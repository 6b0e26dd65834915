import { isApiError } from '@gpu-rental/client';
import { rentalTexts } from '../../../texts/rentals.js';
import { Callout } from '../../../ui/badge.js';
import { ErrorNote } from '../../../ui/states.js';

/** Why a change was not made; nothing without an error, and where the fields say it. */
export function ChangeFailure({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  if (isApiError(error, 'rental_ending') || isApiError(error, 'already_stopped')) {
    return <Callout role="alert" tone="warn" title={rentalTexts.limits.ended} />;
  }
  return <ErrorNote error={error} />;
}
