import { Link } from '@tanstack/react-router';
import type { Rental } from '@gpu-rental/client';
import { useBalance, useLiveMeters } from '../../live/hooks.js';
import { chargedAt } from '../../live/interpolate.js';
import { useNow } from '../../live/now.js';
import { useServiceNow } from '../../live/service-clock.js';
import { homeTexts } from '../../texts/home.js';
import { buttonClasses } from '../../ui/button.js';
import { classes } from '../../ui/classes.js';
import { WarningIcon } from '../../ui/icons.js';
import { rentalTitle } from '../rentals/matching.js';
import { attentionOf, type Attention } from './attention.js';
import type { HomeFacts } from './use-home.js';

const LOOK_EVERY_MS = 10_000;

/** What needs somebody now, each with what to do; nothing where nothing does. */
export function AttentionList({ facts }: { readonly facts: HomeFacts }) {
  const { rentals = [], autoTopup, card, budget, standing, supportContact, webhooks, apiKeys, isNew } = facts;
  const nowMs = useNow(LOOK_EVERY_MS);
  const serviceNowMs = useServiceNow(LOOK_EVERY_MS);
  const meters = useLiveMeters();
  const chargedCents = (rental: Rental): number => {
    const meter = meters[rental.id];
    return meter ? chargedAt(meter, nowMs, rental) : rental.totalChargedCents;
  };
  const found = attentionOf({
    ...{
      nowMs: serviceNowMs,
      rentals,
      autoTopup,
      card,
      budget,
      standing,
      supportContact,
      webhooks,
      apiKeys,
      isNew,
    },
    chargedCents,
    nameOf: rentalTitle,
    balance: useBalance(),
  });
  const { title, count } = homeTexts.attention;
  return (
    <>
      {/* Told when it changes; the times in the list tick on in silence. */}
      <p role="status" className="sr-only">
        {found.length > 0 && count(found.length)}
      </p>
      {found.length > 0 && (
        <ul
          aria-label={title}
          className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
        >
          {found.map((item) => (
            <AttentionRow key={item.id} item={item} />
          ))}
        </ul>
      )}
    </>
  );
}

const look = classes(buttonClasses('secondary', 'small'), 'ml-9 sm:ml-0');

function AttentionRow({ item: { tone, title, text, action, to } }: { readonly item: Attention }) {
  return (
    <li
      className={classes(
        'flex flex-wrap items-center gap-x-4 gap-y-2 border-l-4 py-3 pr-4 pl-3.5',
        tone === 'bad' ? 'border-l-bad' : 'border-l-warn',
      )}
    >
      <WarningIcon
        className={classes('size-5 self-start sm:self-center', tone === 'bad' ? 'text-bad' : 'text-warn')}
      />
      <div className="min-w-0 flex-1 basis-56">
        <p className="font-medium break-words">{title}</p>
        <p className="text-[13px] text-muted">{text}</p>
      </div>
      {to.startsWith('/') ? (
        <Link to={to} className={look}>
          {action}
        </Link>
      ) : (
        <a href={to} className={look}>
          {action}
        </a>
      )}
    </li>
  );
}
