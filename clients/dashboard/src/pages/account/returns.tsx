import { wordOf, type CardReturn } from '@gpu-rental/client';
import { money } from '../../format/money.js';
import { accountTexts as t } from '../../texts/account.js';
import { Badge } from '../../ui/badge.js';
import { cardName } from '../billing/card-state.js';

interface ReturnsProps {
  readonly returns: readonly CardReturn[];
  /** How far each is. */
  readonly areUnderWay?: boolean;
}

/** What goes back to which card. */
export function Returns({ returns, areUnderWay = false }: ReturnsProps) {
  if (returns.length === 0) return null;
  return (
    <ul>
      {returns.map(({ paymentId, amountCents, cardBrand, cardLast4, status }) => (
        <li key={`${paymentId} ${status}`} className="flex flex-wrap items-center gap-x-2 tabular">
          {t.to(money(amountCents), cardName({ brand: cardBrand, last4: cardLast4 }))}
          {areUnderWay && (
            <Badge tone={tones[status] ?? 'neutral'}>{wordOf(t.closing.statuses, status)}</Badge>
          )}
        </li>
      ))}
    </ul>
  );
}

const tones: Partial<Record<string, 'good' | 'warn'>> = { sent: 'good', refused: 'warn' };
