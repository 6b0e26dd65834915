import type { Rental } from '@gpu-rental/client';
import { wordTexts } from '../../texts/words.js';
import { LabelBadges } from './rental-badges.js';

/** What a renter said about a rental, besides its name. */
export function WordLines({ rental: { labels, notes } }: { readonly rental: Rental }) {
  return (
    <>
      {Object.keys(labels).length > 0 && (
        <div>
          <dt className="mb-1 text-muted">{wordTexts.labels}</dt>
          <dd>
            <LabelBadges labels={labels} />
          </dd>
        </div>
      )}
      {notes !== null && (
        <div>
          <dt className="mb-1 text-muted">{wordTexts.fields.notes.label}</dt>
          <dd dir="auto" className="break-words whitespace-pre-wrap">
            {notes}
          </dd>
        </div>
      )}
    </>
  );
}
