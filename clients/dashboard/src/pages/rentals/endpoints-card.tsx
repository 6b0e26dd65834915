import type { Rental } from '@gpu-rental/client';
import { rentalTexts } from '../../texts/rentals.js';
import { Badge } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Copied } from './copied.js';

const texts = rentalTexts.endpoints;
type Endpoint = Rental['endpoints'][number];

/** The ports of a machine's own software: where each is open, and who can reach it. */
export function EndpointsCard({ rental }: { readonly rental: Rental }) {
  return (
    <Card title={texts.title}>
      <ul className="flex flex-col gap-4">
        {rental.endpoints.map((endpoint) => (
          <li key={endpoint.name} className="flex flex-col gap-1">
            <Reach endpoint={endpoint} rentalId={rental.id} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Reach({ endpoint, rentalId }: { readonly endpoint: Endpoint; readonly rentalId: string }) {
  const { name, url } = endpoint;
  const address = endpoint.public ? addressOf(endpoint) : texts.command(name, rentalId);
  return (
    <>
      <p className="flex flex-wrap items-center justify-between gap-2">
        <span className="font-medium" translate="no">
          {name}
        </span>
        <Badge tone={endpoint.public ? 'warn' : 'neutral'}>
          {endpoint.public ? texts.public : texts.closed}
        </Badge>
      </p>
      {address === null ? (
        <p className="text-muted">{texts.notOpen}</p>
      ) : (
        <Copied label={labelOf(endpoint)} copy={texts.copy(name)} text={address} />
      )}
      {url !== null && (
        <p className="mt-1">
          <a
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            className={buttonClasses('secondary', 'small')}
          >
            {texts.open(name)}
          </a>
        </p>
      )}
      {endpoint.changesOnRestart && <p className="text-[13px] text-muted">{texts.changes}</p>}
    </>
  );
}

function labelOf(endpoint: Endpoint): string {
  if (!endpoint.public) return texts.tunnel;
  return endpoint.tls || endpoint.url === null ? texts.address : texts.plain;
}

function addressOf({ url, host, port }: Endpoint): string | null {
  return url ?? (host === null ? null : `${host}:${String(port)}`);
}
