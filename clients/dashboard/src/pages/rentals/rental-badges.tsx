import { lookUp, type Rental, type RentalStatus, wordOf } from '@gpu-rental/client';
import { isUsed } from '../../data/rentals.js';
import { rentalTexts } from '../../texts/rentals.js';
import { Badge, type Tone } from '../../ui/badge.js';

const tones: Readonly<Record<RentalStatus, Tone>> = {
  provisioning: 'info',
  running: 'good',
  stopping: 'warn',
  stopped: 'neutral',
  failed: 'bad',
};

/** The state of a rental in a word, with a dot where it is a live one. */
export function StatusBadge({ status }: { readonly status: RentalStatus }) {
  return (
    <Badge tone={lookUp(tones, status) ?? 'neutral'}>
      {isUsed({ status }) && <span aria-hidden="true" className="size-1.5 rounded-full bg-current" />}
      {wordOf(rentalTexts.status, status)}
    </Badge>
  );
}

interface LabelBadgesProps {
  readonly labels: Rental['labels'];
  /** The rest is counted; default: all are shown. */
  readonly most?: number;
}

/** The labels of a rental. */
export function LabelBadges({ labels, most = Infinity }: LabelBadgesProps) {
  const pairs = Object.entries(labels);
  if (pairs.length === 0) return null;
  return (
    <ul className="flex min-w-0 flex-wrap gap-1">
      {pairs.slice(0, most).map(([key, value]) => (
        <li key={key} className="max-w-full truncate rounded border border-line px-1.5 text-xs text-soft">
          {rentalTexts.label(key, value)}
        </li>
      ))}
      {pairs.length > most && (
        <li className="px-1 text-xs text-muted">{rentalTexts.labelsMore(pairs.length - most)}</li>
      )}
    </ul>
  );
}
