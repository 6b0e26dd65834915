import { Link } from '@tanstack/react-router';
import { ledgerTexts } from '../../texts/ledger.js';
import { buttonClasses } from '../../ui/button.js';
import { EmptyState } from '../../ui/states.js';

/** What stands where the wallet never changed. */
export function NoEntries() {
  return (
    <EmptyState
      title={ledgerTexts.empty}
      actions={
        <Link to="/app/billing" className={buttonClasses('primary')}>
          {ledgerTexts.emptyAction}
        </Link>
      }
    >
      {ledgerTexts.emptyText}
    </EmptyState>
  );
}
