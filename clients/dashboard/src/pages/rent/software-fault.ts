import { isApiError } from '@gpu-rental/client';
import { ownSoftwareTexts } from '../../texts/own-software.js';
import type { OwnSoftware } from './software-draft.js';

type Field = keyof OwnSoftware | 'sshKeyIds';

/** What the service said of a field of own software, or of a part of it; undefined where it said nothing of it. */
export function softwareFault(error: unknown, field: Field): string | undefined {
  if (isApiError(error, 'software_unsupported')) return misfitWords(error, field);
  if (!isApiError(error, 'validation_failed')) return undefined;
  return error.details?.fields.find((fault) => fault.field.split('.')[0] === field)?.message;
}

/** What no provider can do of a wish, or of one field of it, each once; undefined where the service named nothing. */
export function misfitWords(error: unknown, field?: Field): string | undefined {
  if (!isApiError(error, 'software_unsupported')) return undefined;
  // A refusal made on demand has no details.
  const details = error.details as Partial<typeof error.details> | undefined;
  const told = (details?.misfits ?? [])
    .filter((misfit) => field === undefined || misfit.field === field)
    .map(({ providerCode, message }) => ownSoftwareTexts.misfit(providerCode, message));
  return told.length === 0 ? undefined : [...new Set(told)].join(' ');
}
