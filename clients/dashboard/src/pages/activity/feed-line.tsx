import { Link } from '@tanstack/react-router';
import { activityTexts } from '../../texts/activity.js';
import { buttonClasses } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Time } from '../../ui/time.js';

interface FeedLineProps {
  readonly at: string;
  readonly title: string;
  /** What it happened to. */
  readonly entityId?: string | undefined;
  /** The kind of that, which tells where it is shown. */
  readonly noun?: string | undefined;
  readonly id?: string;
  readonly facts?: readonly (readonly [string, string])[];
  readonly notes: readonly string[];
}

/** A line of a feed: when, what, and where it is shown. */
export function FeedLine({ at, title, entityId, noun, id, facts = [], notes }: FeedLineProps) {
  return (
    <li className="flex items-start justify-between gap-x-4 px-4 py-3">
      <div className="min-w-0">
        <p className="break-words">{title}</p>
        {facts.length > 0 && (
          <dl className="mt-1 flex flex-wrap gap-x-4 gap-y-0.5 font-mono text-xs text-soft">
            {facts.map(([name, value]) => (
              <div key={name} className="flex min-w-0 gap-1.5">
                <dt className="text-muted">{name}</dt>
                <dd className="min-w-0 break-all">{value}</dd>
              </div>
            ))}
          </dl>
        )}
        <p className="mt-1 flex flex-wrap items-center gap-x-3 text-[13px] text-muted">
          <Time at={at} isFull />
          {notes.map((note) => (
            <span key={note} className="break-all">
              {note}
            </span>
          ))}
        </p>
        {id !== undefined && (
          <p className="flex items-center gap-0.5 font-mono text-xs text-muted">
            <span className="break-all">{id}</span>
            <CopyButton text={id} label={`${activityTexts.copyId}: ${id}`} />
          </p>
        )}
      </div>
      <EntityLink noun={noun} entityId={entityId} />
    </li>
  );
}

const look = `${buttonClasses('secondary', 'small')} shrink-0`;

/** Leads to where the thing is shown; of some there is nothing to show. */
function EntityLink({ noun, entityId }: Pick<FeedLineProps, 'noun' | 'entityId'>) {
  const { open, openApiKeys, openSessions, openBudget, openLedger } = activityTexts;
  if (entityId?.startsWith('rent_')) {
    return (
      <Link to="/app/rentals/$rentalId" params={{ rentalId: entityId }} className={look}>
        {open.rental}
      </Link>
    );
  }
  if (entityId?.startsWith('wh_') && noun === 'webhook') {
    return (
      <Link to="/app/webhooks/$webhookId" params={{ webhookId: entityId }} className={look}>
        {open.webhook}
      </Link>
    );
  }
  const pages = {
    topup: ['/app/billing', open.billing],
    checkout: ['/app/billing', open.billing],
    card: ['/app/billing', open.billing],
    auto: ['/app/billing', open.billing],
    auto_topup: ['/app/billing', open.billing],
    invoice: ['/app/invoices', open.invoices],
    ssh: ['/app/keys', open.keys],
    ssh_key: ['/app/keys', open.keys],
    api: ['/app/api-keys', openApiKeys],
    api_key: ['/app/api-keys', openApiKeys],
    session: ['/app/sessions', openSessions],
    signed: ['/app/sessions', openSessions],
    budget: ['/app/budget', openBudget],
    wallet: ['/app/ledger', openLedger],
  } as const;
  const page = Object.entries(pages).find(([name]) => name === noun)?.[1];
  if (!page) return null;
  return (
    <Link to={page[0]} className={look}>
      {page[1]}
    </Link>
  );
}
