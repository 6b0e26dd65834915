import type { Rental } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { templatesQuery } from '../../data/catalog.js';
import { familyName } from '../../format/machine.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Card } from '../../ui/card.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Time } from '../../ui/time.js';
import { WordLines } from './word-lines.js';

const texts = rentalTexts.details;

/** What is known of a rental besides. */
export function DetailsCard({ rental }: { readonly rental: Rental }) {
  const { id, gpuCount, family, interconnect, region, providerCode, templateId } = rental;
  const { data: templates } = useQuery(templatesQuery);
  const named = templates?.find((one) => one.id === templateId)?.name ?? templateId;
  const template = rental.software?.image ?? named;
  const machine = [rentalTexts.machine(gpuCount, familyName(family)), interconnect.toUpperCase()];
  return (
    <Card title={texts.title}>
      <dl className="flex flex-col gap-2.5">
        <Line label={texts.machine}>{machine.join(rentalTexts.separator)}</Line>
        <Line label={texts.place}>{region}</Line>
        <Line label={texts.provider}>{providerCode}</Line>
        <Line label={rental.software?.image ? texts.image : texts.template}>{template}</Line>
        <Instant label={texts.asked} at={rental.startedAt} />
        <Instant label={texts.ready} at={rental.runningAt} />
        <Instant label={rental.runningAt === null ? texts.ended : texts.stopped} at={rental.stoppedAt} />
        <WordLines rental={rental} />
        <div className="flex items-center justify-between gap-x-2">
          <dt className="text-muted">{texts.id}</dt>
          <dd className="flex min-w-0 items-center gap-1 font-mono text-xs break-all">
            {id}
            <CopyButton text={id} label={texts.copyId} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}

function Line({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-x-4">
      <dt className="shrink-0 text-muted">{label}</dt>
      <dd className="min-w-0 text-right break-words">{children}</dd>
    </div>
  );
}

function Instant({ label, at }: { readonly label: string; readonly at: string | null }) {
  return (
    at !== null && (
      <Line label={label}>
        <Time at={at} isFull />
      </Line>
    )
  );
}
