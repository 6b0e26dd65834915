import { lookUp, wordOf, type Rental } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { rentalTexts } from '../../texts/rentals.js';
import { Callout, type Tone } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { SupportLink } from '../../ui/support-link.js';

const texts = rentalTexts.warnings;
type RentalWarning = Rental['warnings'][number];

const tones: Readonly<Record<RentalWarning, Tone>> = {
  no_ssh_key: 'warn',
  ssh_unreachable: 'warn',
  host_key_changed: 'bad',
  public_port: 'warn',
};

interface RentalWarningsProps {
  readonly rental: Rental;
  readonly onStop: () => void;
}

/** What is not right with a machine, and what to do. A newer service may warn of more than this page knows. */
export function RentalWarnings({ rental: { warnings }, onStop }: RentalWarningsProps) {
  return warnings.map((warning) => (
    <Callout
      key={warning}
      role="alert"
      tone={lookUp(tones, warning) ?? 'warn'}
      title={wordOf(texts, warning)}
      actions={
        <>
          <Button size="small" onClick={onStop}>
            {rentalTexts.stop}
          </Button>
          {warning === 'no_ssh_key' && (
            <Link to="/app/keys" className={buttonClasses('secondary', 'small')}>
              {texts.keys}
            </Link>
          )}
        </>
      }
    >
      {lookUp(texts, `${warning}_text`)} {warning === 'host_key_changed' && <SupportLink />}
    </Callout>
  ));
}
