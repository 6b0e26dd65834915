import type { Rental } from '@gpu-rental/client';
import { useState } from 'react';
import { readableError } from '../../data/errors.js';
import { readEndpointToken } from '../../data/rentals.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Button } from '../../ui/button.js';
import { copyLater } from '../../ui/copy-text.js';
import { CheckIcon, CopyIcon } from '../../ui/icons.js';
import { Copied } from './copied.js';

const texts = rentalTexts.endpoints;

interface TokenButtonProps {
  readonly rentalId: Rental['id'];
  readonly name: string;
}

type Outcome =
  | { readonly kind: 'copied' }
  /** The browser does not let the page copy: its user does it by hand. */
  | { readonly kind: 'blocked'; readonly token: string }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Copies the token of an endpoint. It is read when it is asked for, and shown only where it can't be copied. */
export function TokenButton({ rentalId, name }: TokenButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const copy = async (): Promise<void> => {
    setBusy(true);
    setOutcome(await copyToken(rentalId, name));
    setBusy(false);
  };
  return (
    <>
      <Button size="small" isBusy={isBusy} onClick={() => void copy()}>
        {outcome?.kind === 'copied' ? <CheckIcon className="size-4 text-good" /> : <CopyIcon />}
        {texts.copyToken}
      </Button>
      <p role="status" className={outcome === undefined ? 'sr-only' : 'basis-full text-[13px] text-muted'}>
        {outcome && told(outcome)}
      </p>
      {outcome?.kind === 'blocked' && (
        <div className="basis-full">
          <Copied label={texts.token} copy={texts.copyToken} text={outcome.token} />
        </div>
      )}
    </>
  );
}

async function copyToken(rentalId: string, name: string): Promise<Outcome> {
  const reading = readEndpointToken(rentalId, name);
  try {
    await copyLater(reading);
    return { kind: 'copied' };
  } catch {
    return reading.then(
      (token): Outcome => ({ kind: 'blocked', token }),
      (error: unknown): Outcome => ({ kind: 'failed', error }),
    );
  }
}

function told(outcome: Outcome): string {
  if (outcome.kind === 'copied') return texts.tokenCopied;
  return outcome.kind === 'blocked' ? texts.tokenBlocked : readableError(outcome.error).message;
}
