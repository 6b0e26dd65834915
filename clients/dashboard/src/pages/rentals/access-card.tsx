import type { Rental } from '@gpu-rental/client';
import { rentalTexts } from '../../texts/rentals.js';
import { Card } from '../../ui/card.js';
import { Copied } from './copied.js';
import { useSsh } from './use-ssh.js';

const texts = rentalTexts.access;

/** The command that enters the machine, and what its host says of itself. */
export function AccessCard({ rental }: { readonly rental: Rental }) {
  const { command, block } = useSsh(rental);
  const { hostKeyFingerprint } = rental;
  return (
    <Card title={texts.title}>
      {command === undefined ? (
        <p className="text-muted">{rental.status === 'running' ? texts.noSsh : texts.waiting}</p>
      ) : (
        <div className="flex flex-col gap-3">
          <Copied label={texts.command} copy={texts.copyCommand} text={command} />
          {block !== undefined && (
            <details>
              <summary className="w-fit text-[13px] text-accent">{texts.block}</summary>
              <div className="mt-2">
                <Copied label={texts.blockLabel} copy={texts.copyBlock} text={block.text} />
                <p className="mt-1 text-[13px] text-muted">{texts.blockHint(block.alias)}</p>
              </div>
            </details>
          )}
          {hostKeyFingerprint !== null && (
            <div>
              <Copied label={texts.fingerprint} copy={texts.copyFingerprint} text={hostKeyFingerprint} />
              <p className="mt-1 text-[13px] text-muted">{texts.fingerprintHint}</p>
            </div>
          )}
        </div>
      )}
    </Card>
  );
}
