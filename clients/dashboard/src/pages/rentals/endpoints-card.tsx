import type { Rental } from '@gpu-rental/client';
import { rentalTexts } from '../../texts/rentals.js';
import { Badge } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { isUsed } from '../../data/rentals.js';
import { Copied } from './copied.js';
import { TokenButton } from './token-button.js';

const texts = rentalTexts.endpoints;
type Endpoint = Rental['endpoints'][number];

/** The ports of a machine's own software: where each is open, and who can reach it. */
export function EndpointsCard({ rental }: { readonly rental: Rental }) {
  return (
    <Card title={texts.title}>
      <ul className="flex flex-col gap-4">
        {rental.endpoints.map((endpoint) => (
          <li key={endpoint.name} className="flex flex-col gap-1">
            <Reach endpoint={endpoint} rental={rental} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface ReachProps {
  readonly endpoint: Endpoint;
  readonly rental: Rental;
}

function Reach({ endpoint, rental }: ReachProps) {
  const { name } = endpoint;
  const address = endpoint.public ? addressOf(endpoint) : commandOf(endpoint, rental.id);
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
      <OpenLink endpoint={endpoint} rental={rental} />
      {endpoint.changesOnRestart && <p className="text-[13px] text-muted">{texts.changes}</p>}
    </>
  );
}

/** What opens it: its page, and its token. */
function OpenLink({ endpoint, rental }: ReachProps) {
  const { name, url } = endpoint;
  return (
    <>
      <div className="mt-1 flex flex-wrap items-center gap-2 empty:hidden">
        {url !== null && (
          <a
            href={url}
            target="_blank"
            rel="noopener noreferrer"
            className={buttonClasses('secondary', 'small')}
          >
            {texts.open(name)}
          </a>
        )}
        {asksForToken(endpoint) && isUsed(rental) && <TokenButton rentalId={rental.id} name={name} />}
      </div>
      {asksForToken(endpoint) && endpoint.public && (
        <p className="text-[13px] text-warn">{texts.onlyToken}</p>
      )}
    </>
  );
}

const asksForToken = ({ auth }: Endpoint): boolean => auth === 'token';

function commandOf(endpoint: Endpoint, rentalId: string): string {
  return asksForToken(endpoint) ? texts.notebook(rentalId) : texts.command(endpoint.name, rentalId);
}

function labelOf(endpoint: Endpoint): string {
  if (!endpoint.public) return asksForToken(endpoint) ? texts.notebookTunnel : texts.tunnel;
  return endpoint.tls || endpoint.url === null ? texts.address : texts.plain;
}

function addressOf({ url, host, port }: Endpoint): string | null {
  return url ?? (host === null ? null : `${host}:${String(port)}`);
}
