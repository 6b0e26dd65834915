import { accountTexts } from '../../texts/account.js';
import { Callout } from '../../ui/badge.js';

const t = accountTexts.closed;

/** Stands where something new would begin, while the account is being closed. */
export function ClosedToNew() {
  return (
    <Callout tone="neutral" title={t.title}>
      {t.text}
    </Callout>
  );
}
